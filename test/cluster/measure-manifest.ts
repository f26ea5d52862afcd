// What the manifest of many projects costs in PostgreSQL: node test/cluster/measure-manifest.ts [PROJECTS] [FILES of each].
// Starts a server of its own; prints sizes, and medians of reads and publications, alone and 50 at a time.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { print } from '../../cli/cli.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { manifestOf, putFactFile } from '../../server/catalog/manifest.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { findProject } from '../../server/catalog/projects.ts';
import { raiseRevisions } from '../../server/catalog/revisions.ts';
import { newUuid } from '../../server/domain/ids.ts';
import { query } from './databases.ts';
import { Postgres } from './servers/postgres.ts';

const [projects = 100_000, files = 100] = process.argv.slice(2).map(Number);
const READS = 2000;
const PUBLICATIONS = 300;
const PARALLEL = 50;

const postgres = await Postgres.start('pass-word-of-tests');
const dataFolder = mkdtempSync(join(tmpdir(), 'ordinate-manifest-'));
try {
  await using catalog = await openCatalog({ dataFolder, catalogUrl: postgres.url });
  await fill();
  await readSizes();
  const any = (): string => `P${Math.floor(Math.random() * projects)}`;
  const range = { from: '2025-01-01', to: '2026-03-31' };
  await time('read a project', READS, () => findProject(catalog, 'acme', any()));
  await time('read the files of a table over 15 months', READS, () => manifestOf(catalog, any(), 'site_daily', range));
  await time('publish 4 files of a project, one after the other', PUBLICATIONS, () => publish(catalog, any()));
  await timeParallel('alone in its transaction', async () => async (id) => publish(catalog, id));
  // Loads have their connection and their lock long before they publish.
  await timeParallel('with the lock of its project', async (ids, opened) => {
    const lock = opened.adopt((await catalog.locks.takeLoad('projects'))!, (it) => it.release());
    await lock.takeProjects(ids);
    return (id) => publish(catalog, id, lock);
  });
} finally {
  await postgres.remove();
  rmSync(dataFolder, { recursive: true, force: true });
}

/** Rows as loads write them: 15 months of as many tables as are needed. */
async function fill(): Promise<void> {
  const started = performance.now();
  await query(
    postgres.url,
    "insert into workspaces (id, name, plan, keyword_history_days) values ('acme', 'Acme', 'team', 486)",
  );
  await query(
    postgres.url,
    `insert into projects (id, workspace_id, domain, property, brand_terms, sync_status, history_backfilling, setup_finished, created_at)
     select 'P' || n, 'acme', n || '.example', 'sc-domain:' || n || '.example', '[]', 'ok', 0, 1, 0 from generate_series(0, $1::int - 1) n`,
    [projects],
  );
  const months = `(date '2025-01-01' + (f % 15) * interval '1 month')`;
  await query(
    postgres.url,
    `insert into fact_files (project_id, fact_table, part, file, rows, first_day, last_day, bytes, sha256)
     select 'P' || n, case f / 15 when 0 then 'site_daily' else 'table_' || f / 15 end, to_char(${months}, 'YYYY-MM'),
       'facts/table_' || f / 15 || '/P' || n || '/' || to_char(${months}, 'YYYY-MM') || '-' || gen_random_uuid() || '.parquet',
       1000, to_char(${months}, 'YYYY-MM-DD'), to_char(${months} + interval '27 days', 'YYYY-MM-DD'), 100000,
       md5(n || ' ' || f) || md5(f || ' ' || n)
     from generate_series(0, $1::int - 1) n cross join generate_series(0, $2::int - 1) f`,
    [projects, files],
  );
  await query(postgres.url, 'vacuum analyze fact_files');
  await query(postgres.url, 'vacuum analyze projects');
  print(
    `${projects} projects, ${projects * files} files: written in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  );
}

async function readSizes(): Promise<void> {
  const rows = await query<{ name: string; mb: string }>(
    postgres.url,
    `select relname as name, (pg_relation_size(oid) / 1e6)::int as mb from pg_class
     where relname ~ '^(fact_files|projects)' and relkind in ('r', 'i') order by 2 desc`,
  );
  print(rows.map(({ name, mb }) => `${name} ${mb} MB`).join(', '));
}

async function publish(catalog: Catalog, project: string, lock?: Parameters<Catalog['transaction']>[1]): Promise<void> {
  await catalog.transaction(async (tx) => {
    for (const part of ['2025-12', '2026-01', '2026-02', '2026-03']) {
      const file = `facts/table_1/${project}/${part}-${newUuid()}.parquet`;
      const days = { firstDay: `${part}-01`, lastDay: `${part}-28` };
      await putFactFile(tx, { project, table: 'site_daily', part, file, rows: 1, bytes: 1, sha256: '0', ...days });
    }
    const none = new Set<string>();
    await raiseRevisions(tx, { facts: new Set([project]), projects: none, keywords: none, workspaces: none });
  }, lock);
}

async function time(what: string, count: number, work: () => Promise<unknown>): Promise<void> {
  const taken: number[] = [];
  for (let index = 0; index < count; index++) {
    const started = performance.now();
    await work();
    taken.push(performance.now() - started);
  }
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (share: number): string => sorted[Math.floor(count * share)]!.toFixed(2);
  print(`${what}: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms`);
}

/** Publications of different projects at a time. */
async function timeParallel(
  what: string,
  prepare: (ids: readonly string[], opened: AsyncDisposableStack) => Promise<(id: string) => Promise<void>>,
): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const each = PUBLICATIONS / PARALLEL;
  const loads = await Promise.all(
    Array.from({ length: PARALLEL }, async (_, load) => {
      const ids = Array.from({ length: each }, (_, index) => `P${load * each + index}`);
      return { ids, write: await prepare(ids, opened) };
    }),
  );
  const started = performance.now();
  await Promise.all(
    loads.map(async ({ ids, write }) => {
      for (const id of ids) await write(id);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  print(`publish, ${PARALLEL} at a time, each ${what}: ${(PUBLICATIONS / seconds).toFixed(0)} a second`);
}
