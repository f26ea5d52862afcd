import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A single fault, as somebody might make it, and the promise that it breaks. */
export interface Mutant {
  /** The part of the product, which is the name of the file of the catalogue. */
  readonly room: string;
  readonly promise: string;
  /** The file of the product that it changes. */
  readonly file: string;
  /** Text that stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Tests that notice it beside those that run its line, such as parts of the browser's tests: `browser/charts`. */
  readonly tests: readonly string[];
}

const FOLDER = join(import.meta.dirname, 'catalogue');

/** A fault as text: a title, the change, and further lines. */
interface Block {
  readonly title: string;
  /** Old text behind `- `. */
  readonly find: string;
  /** New text behind `+ `. */
  readonly replace: string;
  /** What stands behind this word; an empty text without it. */
  readonly behind: (word: string) => string;
  /** Whether a line is this word. */
  readonly has: (word: string) => boolean;
}

/** Reads blocks between empty lines. Lines that begin with `#` are comments. */
export function readBlocks(text: string): Block[] {
  return text.split(/\n[ \t]*\n/).flatMap((block): Block[] => {
    const lines = block.split('\n').filter((line) => line !== '' && line[0] !== '#');
    const [title] = lines;
    if (title === undefined) return [];
    const behind = (mark: string): string =>
      lines
        .filter((line) => line === mark || line.startsWith(`${mark} `))
        .map((line) => line.slice(mark.length + 1))
        .join('\n');
    return [{ title, find: behind('-'), replace: behind('+'), behind, has: (word) => lines.includes(word) }];
  });
}

/**
 * Reads a file of the catalogue: each block is a promise, `file PATH`, the change and, where the map of lines does not lead
 * to them, `tests NAME...`.
 * @throws {Error} that names the promise of a block that lacks something
 */
export function parseCatalogue(room: string, text: string): Mutant[] {
  return readBlocks(text).map(({ title: promise, find, replace, behind }) => {
    const file = behind('file');
    if (/^(?:file|tests|[-+]) /.test(promise)) throw new Error(`${room}: a block begins without a promise: ${promise}`);
    if (file === '' || find === '')
      throw new Error(`${room}: ${promise}\n  It needs a line 'file PATH' and lines '- old text'.`);
    return { room, promise, file, find, replace, tests: behind('tests').split(' ').filter(Boolean) };
  });
}

/** All mutants, or those of some rooms. */
export function readCatalogue(rooms: readonly string[]): Mutant[] {
  const files = globSync('*.txt', { cwd: FOLDER }).sort();
  const unknown = rooms.find((room) => !files.includes(`${room}.txt`));
  if (unknown !== undefined) {
    throw new Error(
      `There is no room '${unknown}'; there are ${files.map((file) => basename(file, '.txt')).join(', ')}.`,
    );
  }
  return files
    .map((file) => basename(file, '.txt'))
    .filter((room) => rooms.length === 0 || rooms.includes(room))
    .flatMap((room) => parseCatalogue(room, readFileSync(join(FOLDER, `${room}.txt`), 'utf8')));
}

/** The text of the file with the fault. @throws {Error} if the old text does not stand there exactly once */
export function plant({ room, promise, file, find, replace }: Mutant, text: string): string {
  const count = text.split(find).length - 1;
  if (count !== 1) {
    throw new Error(
      `${room}: ${promise}\n  Its old text stands ${count} times in ${file}, and must stand there once:\n${find}`,
    );
  }
  return text.replace(find, () => replace);
}

/** The line, from 1, at which the fault begins. */
export function lineOf({ find }: Mutant, text: string): number {
  return text.slice(0, text.indexOf(find)).split('\n').length;
}
