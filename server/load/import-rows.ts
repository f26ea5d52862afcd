import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../catalog/projects.ts';
import { type BrandTerm, brandColumns } from '../domain/brand-terms.ts';
import type { Day } from '../domain/dates.ts';
import { isoInstant } from '../domain/instants.ts';
import { domainOf } from '../domain/properties.ts';
import type { Range } from '../domain/range.ts';

/** The import cannot be done as requested; the message explains why. */
export class ImportRefused extends Error {}

/** The project of an import. */
export interface ImportedProject {
  readonly id: string;
  readonly workspace: string;
  readonly property: string;
  readonly domain: string;
  readonly brandTerms: readonly BrandTerm[];
  /** The existing project; undefined for a new one. */
  readonly known: Project | undefined;
  /** ISO 8601. */
  readonly now: string;
  readonly syncedThrough: Day;
  /** The last final day. */
  readonly provisionalAfter: Day;
}

/** The columns of a project that people set. An import sets brand terms only if it is given some. */
export function columnsToKeep(brandTerms: readonly BrandTerm[] | undefined): string[] {
  const terms = brandTerms === undefined ? ['brand_terms', 'brand_words'] : [];
  return ['domain', 'country', 'language', ...terms];
}

/** The row of the project of an import. */
export function projectRow(made: ImportedProject): object {
  const { id, workspace, property, domain, brandTerms, known, now, syncedThrough, provisionalAfter } = made;
  return {
    id,
    workspace_id: workspace,
    domain: known?.domain ?? domain,
    property,
    country: known?.country ?? null,
    language: known?.language ?? null,
    ...brandColumns(brandTerms),
    sync_status: 'ok',
    last_synced_at: now,
    synced_through: syncedThrough,
    provisional_after: provisionalAfter,
    history_backfilling: known?.historyBackfilling ?? false,
    setup_finished: true,
    created_at: known ? isoInstant(known.createdAt) : now,
  };
}

/** Writes rows, if any, as an NDJSON file of a snapshot. */
export function writeRows(folder: string, table: string, rows: readonly object[]): void {
  if (rows.length === 0) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

/** Refuses a range that has not ended. @param last the last day that facts can be about */
export function refuseFutureRange(range: Range | undefined, last: Day): void {
  if (range === undefined || range.to <= last) return;
  throw new ImportRefused(`--to (${range.to}) has not happened yet; days may be at most ${last} (tomorrow, UTC).`);
}

/** The domain of a property. */
export function requireDomain(property: string): string {
  const domain = domainOf(property);
  if (domain === undefined) {
    throw new ImportRefused(
      `'${property}' is not a property; it is written sc-domain:example.com or https://example.com/ (with the slash).`,
    );
  }
  return domain;
}
