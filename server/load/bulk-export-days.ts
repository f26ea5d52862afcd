import type { Catalog } from '../catalog/catalog.ts';
import { type BulkExportDays, readBulkExportDays } from '../catalog/sync-days.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import { EVERY_DAY, rangesOf, within } from '../domain/range.ts';
import type { StagedDays } from './part-files.ts';

/**
 * What a publication changes in the record of the days that came from a bulk export: it adds the days that it replaces if it
 * is one, and drops those of which it keeps no rows otherwise.
 */
export async function replacedBulkExportDays(
  catalog: Catalog,
  staged: readonly Pick<StagedDays, 'schema' | 'days' | 'kept'>[],
  isBulkExport: boolean,
): Promise<BulkExportDays[]> {
  const changed: BulkExportDays[] = [];
  for (const project of new Set(staged.flatMap(({ days }) => [...days.keys()]))) {
    const stored = await readBulkExportDays(catalog, project);
    for (const { schema, days, kept } of staged) {
      const before = new Set((stored.get(schema.name) ?? []).flatMap(({ from, to }) => eachDay(from, to)));
      const replaced = days.get(project) ?? new Set<Day>();
      const gone = replaced.difference(kept?.get(project) ?? new Set<Day>());
      const after = isBulkExport ? before.union(replaced) : before.difference(gone);
      if (after.size === before.size) continue;
      changed.push({ project, table: schema.name, ranges: rangesOf([...after].sort()) });
    }
  }
  return changed;
}

/** What dropping all days before a day changes in that record. */
export async function keptBulkExportDays(catalog: Catalog, project: string, before: Day): Promise<BulkExportDays[]> {
  const stored = [...(await readBulkExportDays(catalog, project))];
  return stored
    .filter(([, [first]]) => first!.from < before)
    .map(([table, ranges]) => ({
      project,
      table,
      ranges: ranges.flatMap((range) => within(range, before, EVERY_DAY.to) ?? []),
    }));
}
