// Compares Trino with DuckDB on the same files: npm run bench:trino -- DATA_FOLDER MANY_PROJECTS_FOLDER
// The folders are those that `npm run bench -- --scale` makes. Needs what test/cluster/trino-faults.test.ts needs.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteIn } from '../../server/catalog/location.ts';
import { filesOf, keywordFilesUntil, manifestOfWorkspace } from '../../server/catalog/manifest.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { addDays, type Day } from '../../server/domain/dates.ts';
import { shortIdNumber } from '../../server/domain/ids.ts';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { DuckDBReader } from '../../server/facts/duckdb/reader.ts';
import type { Device, Facts, StoredRange } from '../../server/facts/facts.ts';
import type { KeywordFiles } from '../../server/facts/keyword-plan.ts';
import { StoredFacts } from '../../server/facts/stored-facts.ts';
import { ConcurrencyLimit } from '../../server/runtime/limits.ts';
import { FolderStore } from '../../server/storage/folder-store.ts';
import { Bucket } from './servers/object-store.ts';
import { askTrino, storageOfTests, Trino } from './servers/trino.ts';
import { trinoSettings } from './trino-world.ts';

const ROUNDS = Number(process.env['ORDINATE_TEST_RUNS'] ?? 7);
const { signal } = new AbortController();
/** Closed when the process ends. */
const opened = { teardown: () => {} };

/** A question, answered by one of the engines. */
type Question = (facts: Facts) => Promise<unknown>;

const [dataFolder, manyFolder] = process.argv.slice(2) as [string, string];
const folders = [dataFolder, manyFolder].map((folder) => join(folder, 'facts'));
const engine = await Engine.open({
  memoryLimit: '768MB',
  threads: 2,
  temporaryFolder: join(tmpdir(), `measure-trino-${process.pid}`),
  folders,
});
const readerOf = (folder: string) => new DuckDBReader(engine, new FolderStore(folder), new ConcurrencyLimit(2));

async function questionsOfOne(): Promise<Record<string, Question>> {
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const project = 'Large';
  const keywords = await catalog.statements.all<{ id: string }>('keywords_of_project', { project });
  const positions = new Map(keywords.map(({ id }, place) => [shortIdNumber(id), place]));
  const site = await filesOf(catalog, project, 'site_daily', { from: '2000-01-01', to: '2100-01-01' });
  const { days } = await keywordFilesUntil(catalog, project, '2100-01-01', true);
  const to = days.at(-1)!.lastDay;
  const totals = async (from: Day, device: Device, isRaw: boolean): Promise<Question> => {
    const stored = await keywordFilesUntil(catalog, project, to, device === 'all');
    const files: KeywordFiles = isRaw ? { days: stored.days, cumulative: [], running: undefined } : stored;
    const range = { from, to };
    return (facts) => facts.keywordTotals({ files, range, unknown: new Set(), signal }, device, positions);
  };
  const recent = addDays(to, -27);
  const long = addDays(to, -485);
  return {
    'site, 28 days': (facts) => facts.siteDays({ files: site, range: { from: recent, to }, signal }, 'all'),
    'keywords, 28 days, by days': await totals(recent, 'all', true),
    'keywords, 16 months, by days': await totals(long, 'all', true),
    'keywords, 16 months, by days of devices': await totals(long, 'mobile', true),
    'keywords, 16 months, cumulative totals': await totals(long, 'all', false),
    'keywords, 16 months, running totals': await totals(long, 'mobile', false),
  };
}

async function questionsOfMany(): Promise<Record<string, Question>> {
  await using catalog = await openCatalog(sqliteIn(manyFolder));
  const [workspace] = await catalog.statements.all<{ id: string }>('workspaces', {});
  const projects = [...(await manifestOfWorkspace(catalog, workspace!.id, 'site_daily')).values()];
  const to = projects[0]![0]!.lastDay;
  const portfolio = (days: number): Question => {
    const parts = projects.map((files): StoredRange => ({ files, range: { from: addDays(to, 1 - days), to } }));
    return (facts) => facts.siteDaysOfEach(parts, 'all', signal);
  };
  return {
    [`portfolio of ${projects.length} projects, 28 days`]: portfolio(28),
    [`portfolio of ${projects.length} projects, 16 months`]: portfolio(486),
  };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;

const worlds = [
  { folder: dataFolder, questions: await questionsOfOne() },
  { folder: manyFolder, questions: await questionsOfMany() },
];
for (const workers of [1, 2]) {
  const metastore = await Bucket.create(opened, process.env['ORDINATE_TEST_S3']!);
  const trino = await Trino.start({ storage: storageOfTests(metastore.name), workers, isMeasured: true });
  try {
    console.log(`${workers} worker${workers === 1 ? '' : 's'}: median ms of ${ROUNDS} rounds`);
    const nothing: number[] = [];
    for (let round = 0; round < ROUNDS; round++)
      nothing.push(await milliseconds(() => askTrino(trino.url, 'select 1')));
    console.log(`  select 1: ${Math.round(median(nothing))}`);
    for (const { folder, questions } of worlds) {
      const local = readerOf(folder);
      const duckdb = new StoredFacts(local);
      const { reader, bucket } = await trinoSettings(opened, { trino: trino.url });
      await bucket.putFolder(join(folder, 'facts'), 'some/prefix/facts');
      const distant = new StoredFacts(local, () => reader);
      for (const [name, ask] of Object.entries(questions)) {
        const times: Record<'duckdb' | 'trino', number[]> = { duckdb: [], trino: [] };
        for (let round = 0; round <= ROUNDS; round++) {
          const [here, there] = [await milliseconds(() => ask(duckdb)), await milliseconds(() => ask(distant))];
          // The first one compiles.
          if (round > 0) times.duckdb.push(here);
          if (round > 0) times.trino.push(there);
        }
        const [here, there] = [median(times.duckdb), median(times.trino)];
        console.log(
          `  ${name}: DuckDB ${here.toFixed(0)}, Trino ${there.toFixed(0)}, ${(there / here).toFixed(1)} times`,
        );
      }
    }
  } finally {
    await trino.stop();
  }
}
await engine.close();
