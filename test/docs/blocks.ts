import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../readme.ts';

/** A block of code in the guide: three backticks, its language, and a name. */
export interface Block {
  readonly page: string;
  readonly language: string;
  readonly name: string;
  readonly code: string;
}

/** The blocks of all pages in `docs/`. */
export function guideBlocks(): Block[] {
  return globSync('docs/*.md', { cwd: ROOT }).flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)].map(
      ([, language = '', name = '', code = '']) => ({ page: basename(file, '.md'), language, name, code }),
    ),
  );
}

/** Which blocks this process has asked for, as `PAGE NAME`. */
export const triedBlocks = new Set<string>();

/** The code of a block. */
export function guideBlock(page: string, name: string): string {
  const block = guideBlocks().find((one) => one.page === page && one.name === name);
  if (block === undefined) throw new Error(`docs/${page}.md has no block '${name}'`);
  triedBlocks.add(`${page} ${name}`);
  return block.code;
}
