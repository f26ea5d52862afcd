import { command } from '../command.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs a command over a data folder. */
export async function ordinate(dataFolder: string, ...parts: readonly string[]): Promise<Ran> {
  const { code, stdout, stderr } = await command({ ORDINATE_DATA: dataFolder, ORDINATE_THREADS: '1' }, ...parts);
  return { code: code ?? 1, out: stdout, error: stderr };
}
