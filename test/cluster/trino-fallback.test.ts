// Files that Trino cannot read are read by DuckDB, with the same answers.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { filesOf } from '../../server/catalog/fact-files.ts';
import { EVERY_DAY } from '../../server/domain/range.ts';
import { valuesOf } from '../metrics/scrape-text.ts';
import { changeCatalog } from '../stores.ts';
import { facts, keyword, makeWorld, sharedEngine, type Tables, temporaryFolder } from '../world.ts';
import { skip, type TrinoWorld, trinoWorld } from './trino-world.ts';

const RANGE = 'from=2025-12-01&to=2026-03-10';
const ASKED = [
  `/keywords?${RANGE}`,
  `/keywords?${RANGE}&device=mobile&limit=20`,
  `/keywords?${RANGE}&daily=1&limit=20`,
  `/site?${RANGE}`,
];
/** So many that their totals are larger than the smallest limit of `auto`. */
const KEYWORDS = Array.from({ length: 8000 }, (_, number) => `K${String(number).padStart(4, '0')}`);
const MONTHS = ['2025-11-20', '2025-12-31', '2026-01-02', '2026-03-01'];
const TABLES: Tables = {
  keywords: KEYWORDS.map((id) => keyword(id, `query ${id}`)),
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 30, 90]),
  keyword_daily: facts(
    'keyword_id date device',
    ...KEYWORDS.map((id, at) => {
      const clicks = (at * 7919) % 1009;
      return [id, MONTHS[at % MONTHS.length], at % 3 ? 'mobile' : 'desktop', clicks, clicks + at, clicks + at * 3];
    }),
  ),
};

/** Stores the totals of keywords as older versions did: compressed with `lz4_raw`. */
async function makeOld(t: Test, { world, bucket }: TrinoWorld): Promise<void> {
  const folder = temporaryFolder(t);
  using session = await (await sharedEngine(world.settings)).session();
  for (const [table, sizes] of [
    ['keyword_cumulative', 'row_group_size 20480, dictionary_size_limit 1'],
    ['keyword_running', 'row_group_size 10240'],
  ] as const) {
    const stored = await filesOf(world.catalog, 'Proj1', table, EVERY_DAY);
    t.ok(stored.length > 0, table);
    for (const { file } of stored) {
      const [source, target] = [join(folder, 'source'), join(folder, 'target')];
      const key = `some/prefix/${file}`;
      writeFileSync(source, await bucket.get(key));
      const written = `copy (from read_parquet($source)) to $target (format parquet, compression lz4_raw, ${sizes})`;
      await session.run(written, { source, target });
      const content = readFileSync(target);
      await bucket.set(key, content);
      const sha256 = createHash('sha256').update(content).digest('hex');
      const found = `bytes = ${content.length}, sha256 = '${sha256}'`;
      await changeCatalog(world.settings, `update fact_files set ${found} where file = '${file}'`);
    }
  }
}

/** How many queries of Trino ended in each way. */
async function outcomes({ world }: TrinoWorld): Promise<Readonly<Record<string, number>>> {
  return valuesOf(await world.scrape(), 'ordinate_trino_queries_total', { process: 'server' });
}

for (const engine of [{ ORDINATE_ENGINE: 'trino' }, { ORDINATE_ENGINE: 'auto', ORDINATE_TRINO_ABOVE: '1MB' }]) {
  t.test(`files that Trino cannot decode are read by DuckDB, with ${engine.ORDINATE_ENGINE}`, { skip }, async (t) => {
    const environment = { ...engine, ORDINATE_CACHE: '0MB' };
    const stored = await trinoWorld(t, TABLES, { environment, measured: true });
    await makeOld(t, stored);
    const { world } = stored;
    const local = await makeWorld(t, TABLES);
    const compare = async (): Promise<void> => {
      for (const path of ASKED) {
        const [found, expected] = [await world.ask(path), await local.ask(path)];
        t.equal(expected.status, 200, path);
        t.strictSame([found.status, found.body], [expected.status, expected.body], path);
      }
    };
    await compare();
    const before = await outcomes(stored);
    t.ok(before['unreadable']! > 0, 'Trino could not decode some');
    t.strictSame([before['failed'] ?? 0, before['unavailable'] ?? 0], [0, 0]);

    // A load of the first month writes the totals of all months again.
    const more = { keyword_daily: facts('keyword_id date device', ['K0000', '2025-11-19', 'mobile', 1, 10, 20]) };
    for (const it of [world, local]) await it.load(more);
    await compare();
    const after = await outcomes(stored);
    t.equal(after['unreadable'], before['unreadable'], 'now Trino reads all');
    t.ok(after['ok']! > (before['ok'] ?? 0));
  });
}
