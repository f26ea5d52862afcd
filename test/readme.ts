import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..');
export const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The commands of a block: a shell script marked with `sh NAME`. */
export function block(name: string): string {
  const text = new RegExp(`\`\`\`sh ${name}\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (text === undefined) throw new Error(`README.md has no commands '${name}'`);
  return text;
}
