import type { Catalog } from '../catalog/catalog.ts';
import { filesOf } from '../catalog/fact-files.ts';
import { count, type Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { type MeasureName, partsOf } from '../model/tables.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore, OpenFiles, StoredFile } from '../storage/file-store.ts';
import { check } from './fact-checks.ts';
import { FACTS } from './fact-tables.ts';
import { batches, type StagedParts } from './staged-parts.ts';
import type { Carried } from './state.ts';
import { identifiers, packed } from './tables.ts';

const ALL_DAYS = { from: '0001-01-01', to: '9999-12-31' };
/** Keywords without data that a warning names. */
const MAX_NAMED = 5;
/** With fewer rows per project the check of positions is unreliable. The SQL statement uses the same limit. */
const FEWEST_ROWS = 10;

/** Reports facts with more of a part than of its whole, as clicks of impressions. Providers occasionally return such rows. */
export async function checkParts(session: Session, parts: StagedParts): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [{ name: table, key, measures }, all] of parts) {
    if (all.every(({ implausible }) => implausible === 0)) continue;
    const files = batches(all).flat();
    for (const [part, whole] of partsOf(measures)) {
      const message = `${describeImplausible(part, whole)}; --accept-implausible loads such rows as they are`;
      const entry = { sql: 'more_than', table, column: part, message };
      const pack = packed([...key, part, whole]);
      const of = { key: identifiers(key), pack, measure: identifiers([part]), whole: identifiers([whole]) };
      problems.push(...(await check(session, entry, of, { files })));
    }
  }
  return problems;
}

/** What is wrong with rows that have more of a part than of its whole. */
export function describeImplausible(part: MeasureName, whole: MeasureName): string {
  return `with more ${part} than ${whole}`;
}

/** Warns of position sums that look like averages. Checks only the last month of each project, which is cheap. */
export async function positionWarnings(session: Session, parts: StagedParts): Promise<string[]> {
  const warnings: string[] = [];
  for (const [{ name, measures }, all] of parts) {
    if (!measures.includes('sum_position')) continue;
    const last = new Map(all.toSorted((a, b) => (a.part < b.part ? -1 : 1)).map((part) => [part.project, part]));
    const files = [...new Set([...last.values()].flatMap((part) => part.files))];
    const rows = Map.groupBy(all, ({ project }) => project).values();
    if ([...rows].every((parts) => parts.reduce((sum, part) => sum + part.rows, 0) < FEWEST_ROWS)) continue;
    const found = await session.rows<{ project: string }>(sqlText('load/checks/average_positions'), { files });
    for (const { project } of found) {
      warnings.push(
        `${name}: the sum_position of project ${project} looks like average positions; it must be the sum over all impressions, counted from zero: round((position - 1) * impressions).`,
      );
    }
  }
  return warnings;
}

/** Warns of keywords of the load without facts, in the load or stored before. Requires the tables of `checkFacts`. */
export async function keywordWarnings(
  session: Session,
  catalog: Catalog,
  { tables }: Carried,
  store: FileStore,
  parts: StagedParts,
): Promise<string[]> {
  if (!tables.some(({ name }) => name === 'keywords')) return [];
  const schema = FACTS.find(({ name }) => name === 'keyword_daily')!;
  const hasFacts = (parts.get(schema) ?? []).length > 0;
  const facts = hasFacts ? `from fact_keywords_${schema.name}` : 'select null as project_id, null as keyword_id';
  const found = await session.rows<{ project: string; id: string; query: string }>(
    sqlTemplate('load/checks/keywords_without_data', { facts }),
  );
  const warnings: string[] = [];
  for (const [project, keywords] of Map.groupBy(found, (keyword) => keyword.project)) {
    const running = await filesOf(catalog, project, 'keyword_running', ALL_DAYS);
    const stored = running.length > 0 ? running : await filesOf(catalog, project, 'keyword_daily', ALL_DAYS);
    using opened = await openUndamaged(store, stored);
    // A load repairs damaged facts, so this warning must not fail it.
    if (opened === undefined) continue;
    const files = opened.paths;
    const before =
      files.length > 0 ? await session.rows<{ id: string }>(sqlText('load/keywords_of_files'), { files }) : [];
    const known = new Set(before.map(({ id }) => id));
    const without = keywords.filter(({ id }) => !known.has(id));
    if (without.length === 0) continue;
    const names = without.slice(0, MAX_NAMED).map(({ query }) => `'${query}'`);
    const more = without.length > MAX_NAMED ? ' and others' : '';
    warnings.push(
      `Project ${project} has ${count(without.length, 'keyword')} without any row in keyword_daily: ${names.join(', ')}${more}.`,
    );
  }
  return warnings;
}

async function openUndamaged(store: FileStore, files: readonly StoredFile[]): Promise<OpenFiles | undefined> {
  try {
    return await store.open(files);
  } catch (error) {
    if (error instanceof DamagedFile) return undefined;
    throw error;
  }
}
