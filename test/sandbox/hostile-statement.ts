/** A statement that a stranger may try. `{data}` in it stands for the data folder. */
export interface Hostile {
  readonly group: string;
  readonly sql: string;
}

export const of = (group: string, ...statements: readonly string[]): Hostile[] =>
  statements.map((sql) => ({ group, sql }));

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
