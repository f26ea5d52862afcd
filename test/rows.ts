import { eachDay } from '../server/domain/dates.ts';
import { readRecorded } from './recorded.ts';
import { PROJECT, type Row, type Tables, WORKSPACE } from './world.ts';

/** What the columns of rows `as usual` do not say. */
const USUAL: Readonly<Record<string, Row>> = {
  workspaces: WORKSPACE,
  projects: PROJECT,
  keywords: { tracked_since: '2025-01-05T00:00:00Z' },
};
const DAYS = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/;

/** A value of JSON, or a text without quotes. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/**
 * The rows of a text, which people read:
 *   given TABLE: column | column             the rows are the indented lines below; of Proj1, where no column names the project
 *   given TABLE as usual: column | column    with the rest of `WORKSPACE` and `PROJECT`
 * A cell such as 2026-03-01..2026-03-05 stands for a row for each day, and `-` for none at all.
 */
export function tablesIn(lines: readonly string[]): Tables {
  const tables: Record<string, Row[]> = {};
  let [table, usual, columns] = ['', {} as Row, [] as string[]];
  for (const line of lines) {
    const [, given, isUsual, heading] = /^given (\w+)( as usual)?: (.*)$/.exec(line) ?? [];
    if (given !== undefined) {
      const ofProject = heading!.includes('project_id') || /^(workspaces|projects)$/.test(given);
      [table, columns] = [given, heading!.split(' | ')];
      usual = { ...(ofProject ? {} : { project_id: 'Proj1' }), ...(isUsual === undefined ? {} : USUAL[given]) };
      tables[table] ??= [];
    }
    if (!line.startsWith('  ')) continue;
    const cells = line
      .slice(2)
      .split(' | ')
      .map((cell) => cell.trim());
    const [, from = '', to = ''] = cells.map((cell) => DAYS.exec(cell)).find(Boolean) ?? [];
    for (const day of from === '' ? [''] : eachDay(from, to)) {
      const known = columns
        .map((column, at) => [column, cells[at]!] as const)
        .filter(([, cell]) => cell !== '-')
        .map(([column, cell]) => [column, DAYS.test(cell) ? day : parsed(cell)] as const);
      tables[table]!.push({ ...usual, ...Object.fromEntries(known) });
    }
  }
  return tables;
}

/** The rows of a file of `test/fixtures/rows`. */
export const readTables = (name: string): Tables => tablesIn(readRecorded(`rows/${name}.txt`).split('\n'));
