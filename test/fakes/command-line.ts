import { execFile } from 'node:child_process';
import { environmentOf } from '../process.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command over a data folder. */
export function ordinate(dataFolder: string, ...parts: readonly string[]): Promise<Ran> {
  const env = environmentOf({ ORDINATE_DATA: dataFolder, ORDINATE_THREADS: '1' });
  return new Promise((done) => {
    execFile(process.execPath, ['scripts/ordinate.ts', ...parts], { env }, (error, out, err) => {
      done({ code: Number(error?.code ?? 0), out, error: err });
    });
  });
}
