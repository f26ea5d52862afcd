import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A bare Fastify route in a separate process. */
export interface BareRoute {
  readonly address: URL;
  stop(): Promise<void>;
}

/** Starts a bare Fastify route that answers `/` with these bytes. */
export async function startBareRoute(folder: string, bytes: Buffer): Promise<BareRoute> {
  const file = join(folder, 'bare-answer.json');
  writeFileSync(file, bytes);
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare.ts'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  for await (const line of createInterface({ input: child.stdout })) {
    return {
      address: new URL(line),
      stop: async () => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
        process.removeListener('exit', kill);
      },
    };
  }
  throw new Error('The bare Fastify route did not start.');
}
