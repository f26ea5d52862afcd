import type { CatalogLocation } from '../location.ts';
import { openUsage } from '../open-usage.ts';

/** Statements that read a whole table, those that write a row, and the parameter of the latter for each column. */
const COPIED = [
  ['key_uses_all', 'key_used', { id: 'id', usedAt: 'at' }],
  ['key_days_since', 'key_used_on_day', { id: 'id', day: 'day', requests: 'requests', lastAt: 'at' }],
  ['list_uses_all', 'list_used', { file: 'file', usedAt: 'at', hits: 'hits' }],
] as const;

/** Copies the use of keys and lists into an empty usage database, as far as possible. Returns the number of rows. */
export async function copyUses(source: CatalogLocation, target: CatalogLocation): Promise<number> {
  const [from, to] = [openUsage(source, () => {}), openUsage(target, () => {})];
  let copied = 0;
  try {
    for (const [all, put, names] of COPIED) {
      const rows = await from.all<Record<string, string | number>>(all, all === 'key_days_since' ? { since: '' } : {});
      for (const row of rows) {
        const values = Object.fromEntries(Object.entries(names).map(([column, name]) => [name, row[column]!]));
        if (await to.run(put, values)) copied++;
      }
    }
    return copied;
  } finally {
    await from.close();
    await to.close();
  }
}
