import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const ROOT = join(import.meta.dirname, '..');
export const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const run = promisify(execFile);

/** The commands of a block: a shell script marked with `sh NAME`. */
export function block(name: string): string {
  const text = new RegExp(`\`\`\`sh ${name}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (text === undefined) throw new Error(`README.md has no commands '${name}'`);
  return text;
}

/** Runs commands of the README in a new folder; `npm run -s ordinate --` uses this checkout. */
export async function shell(commands: string, cwd: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const npm = `npm() { shift 4; ${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, 'scripts/ordinate.ts'))} "$@"; }`;
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${npm}\n${commands}`], {
    cwd,
    env: { ...process.env, ...environment },
  });
  return stdout;
}
