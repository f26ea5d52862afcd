import { readRecorded } from '../recorded.ts';

/** A statement that a stranger may try. `{data}` in it stands for the data folder. */
export interface Hostile {
  readonly outcome: string;
  readonly group: string;
  readonly sql: string;
}

/** All statements, by what becomes of them. */
export const HOSTILE: readonly Hostile[] = readRecorded('hostile-statements.txt')
  .split('\n\n=== ')
  .slice(1)
  .flatMap((section) => {
    const [title, ...lines] = section.split('\n');
    const [outcome, group] = title!.split(': ') as [string, string];
    return lines.filter((line) => line !== '').map((line) => ({ outcome, group, sql: read(line) }));
  });

function read(line: string): string {
  return line
    .replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, number: string) => String.fromCodePoint(Number.parseInt(number, 16)))
    .replaceAll(/\{\{(\d+) (.+?)\}\}/g, (_, times: string, text: string) => text.repeat(Number(times)));
}

/** The longest text that a table shows. */
const SHOWN = 110;

/** A text as code of a table: short, in one line, with visible characters only. */
export function shownText(text: string): string {
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)} …` : text;
  const visible = cut.replace(/[^ -~\u2026]/g, (character) =>
    character === '\n' ? ' ↵ ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `\`${visible.replaceAll('`', "'").replaceAll('|', '\\|').trim()}\``;
}
