import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { findAnyProject, listKeywordIds } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { count, LoadRejected } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { type FactTable, partsOf } from '../model/tables.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { OpenFiles, StoredFile } from '../storage/file-store.ts';
import { changeFacts, type FactChange, type LockOptions } from './change-facts.ts';
import { type Counts, countLoad } from './count-load.ts';
import { checkKeys } from './fact-checks.ts';
import { FACTS } from './fact-tables.ts';
import { describeFailure } from './failures.ts';
import type { StagedDays } from './part-files.ts';
import { describeImplausible } from './plausibility.ts';
import { type PublicationOptions, publishStaged, recordOwners } from './publish.ts';
import { completeCumulative } from './remake-rollups.ts';
import { areSmall, onlyPart, partOf, readStagedParts, stagedFile, WRONG_PART } from './staged-parts.ts';
import type { EngineStores } from './stores.ts';
import { type FactTableSchema, identifiers } from './tables.ts';

/** Days of a table that are replaced, with or without rows. */
export interface NewDays {
  readonly table: FactTable;
  readonly days: readonly Day[];
  /** Those of them with rows that were stored before; the record of where these days came from stays. */
  readonly kept?: readonly Day[];
  /** NDJSON or Parquet files with all columns and valid values. */
  readonly files: readonly string[];
}

/** Context for gathering days. */
export interface Gathering {
  readonly session: Session;
  /** A folder for further files. Removed afterwards. */
  readonly folder: string;
  /** The ids of the project's keywords: other rows are omitted. */
  readonly keywords: readonly string[];
  /** Opens stored files until the new days are published. */
  readonly open: (files: readonly StoredFile[]) => Promise<OpenFiles['paths']>;
}

/** Publishes days, for a caller that need not know how. */
export interface Publisher {
  /** See `publishDays`. */
  publishDays(publication: DaysPublication): Promise<void>;
  /** See `completeCumulative`. */
  completeCumulative(project: string): Promise<void>;
  /** The same, with how it waits for other loads. */
  waiting(waiting: LockOptions): Publisher;
}

/** A publisher on the given stores. */
export function publisherOn(stores: EngineStores, waiting: LockOptions = {}): Publisher {
  return {
    publishDays: (publication) => publishDays(stores, publication, waiting),
    completeCumulative: (project) => completeCumulative(stores, project, waiting),
    waiting: (other) => publisherOn(stores, other),
  };
}

interface DaysPublication extends Pick<PublicationOptions, 'deferCumulative'> {
  readonly project: string;
  /** Gathers the new days, while no other change of the project runs. */
  readonly newDays: (gathering: Gathering) => Promise<readonly NewDays[]>;
  /** Writes further rows in the same transaction. Returns whether the project's row changed. */
  readonly inTransaction: (tx: Catalog) => Promise<boolean>;
}

/**
 * Replaces days of a project, in one transaction with what `inTransaction` writes. Values are not validated again, keys and sums
 * are. Rows of removed keywords are omitted. A failure leaves the served data unchanged.
 */
async function publishDays(stores: EngineStores, publication: DaysPublication, waiting: LockOptions): Promise<void> {
  const { settings } = stores;
  const publish = async (): Promise<Counts> => {
    try {
      return await changeFacts(stores, { ...waiting, projects: [publication.project] }, (change) =>
        publishLocked(stores, change, publication),
      );
    } catch (error) {
      throw describeFailure(error, settings.dataFolder);
    }
  };
  await countLoad(settings, 'sync', publish, waiting.signal);
}

async function publishLocked(
  { catalog, engine: open, onWarning }: EngineStores,
  change: FactChange,
  { project, newDays, deferCumulative = false, inTransaction }: DaysPublication,
): Promise<Counts> {
  const started = performance.now();
  if ((await findAnyProject(catalog, project)) === undefined) throw new Error(`There is no project '${project}'.`);
  const keywords = await listKeywordIds(catalog, project);
  const engine = await open();
  using session = await engine.session();
  using opened = new DisposableStack();
  const openFiles: Gathering['open'] = async (files) => opened.use(await change.files.store.open(files)).paths;
  const staged: StagedDays[] = [];
  await engine.useThreads(engine.threads);
  const found = await newDays({ session, folder: change.staging, keywords, open: openFiles });
  await engine.useThreads(areSmall(found.flatMap(({ files }) => files)) ? 1 : engine.threads);
  for (const { table, days, kept = [], files } of found) {
    const schema = FACTS.find(({ name }) => name === table)!;
    const folder = join(change.staging, table);
    await stage(session, schema, { files, folder, keywords, days });
    const { parts, problems } = await readStagedParts(session, schema, folder);
    problems.push(...(await checkKeys(session, schema, parts)));
    if (problems.length > 0) throw new LoadRejected(problems);
    // The provider occasionally returns such rows.
    const implausible = parts.reduce((sum, part) => sum + part.implausible, 0);
    const [pair] = partsOf(schema.measures);
    if (implausible > 0) onWarning?.(`${table}: ${count(implausible, 'row')} ${describeImplausible(...pair!)}.`);
    staged.push({
      schema,
      parts,
      days: new Map([[project, new Set(days)]]),
      kept: new Map([[project, new Set(kept)]]),
    });
  }
  await publishStaged(engine, { ...change, catalog }, staged, {
    deferCumulative,
    async inTransaction({ tx, record, changed }) {
      if (await inTransaction(tx)) changed.projects.add(project);
      await recordOwners(tx, record, [project]);
    },
  });
  const rowsOf = ({ schema, parts }: StagedDays) =>
    [schema.name, { rows: parts.reduce((sum, { rows }) => sum + rows, 0) }] as const;
  return { tables: Object.fromEntries(staged.map(rowsOf)), seconds: (performance.now() - started) / 1000 };
}

/** Writes valid rows to Parquet files below `folder`, one subfolder per part. */
async function stage(
  session: Session,
  schema: FactTableSchema,
  { files, folder, keywords, days }: Omit<NewDays, 'table' | 'kept'> & Pick<Gathering, 'folder' | 'keywords'>,
): Promise<void> {
  const { columns } = schema;
  const selected = identifiers(columns.map(({ name }) => name));
  const types = columns.map(({ name, type }) => `"${name}": '${type.sql}'`).join(', ');
  const hasKeywords = columns.some(({ name }) => name === 'keyword_id');
  const isKnown = hasKeywords ? ' where keyword_id in (select unnest($keywords))' : '';
  const readers = { parquet: 'read_parquet($parquet)', ndjson: `read_ndjson($ndjson, columns = {${types}})` };
  const selects: string[] = [];
  const parameters: Record<string, string | readonly string[]> = { target: folder, ...(hasKeywords && { keywords }) };
  for (const format of ['parquet', 'ndjson'] as const) {
    const paths = files.filter((file) => file.endsWith(`.${format}`)).map(patternOf);
    if (paths.length === 0) continue;
    selects.push(`select ${selected}, false as wrong from ${readers[format]}${isKnown}`);
    parameters[format] = paths;
  }
  if (selects.length === 0) return;
  const rows = selects.join('\nunion all\n');
  const only = onlyPart(schema, days);
  if (only === undefined) {
    const parts = { rows, part: partOf(schema), wrong: String(WRONG_PART) };
    await session.run(sqlTemplate('load/stage_facts', parts), parameters);
  } else {
    const target = stagedFile(folder, only);
    await session.run(sqlTemplate('load/stage_part', { rows }), { ...parameters, target });
  }
}
