// The snapshot endpoint serves a project's files exactly as stored, and lists changes since a revision.
import { createHash } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { setRequestsPerMinute } from '../../server/catalog/workspaces.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { duckdb, quoted } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, temporaryFolder, WORKSPACE, type World } from '../world.ts';

const SITE = facts('date device', ['2026-02-27', 'mobile', 3, 100, 900], ['2026-03-01', 'desktop', 1, 10, 30]);
const DAYS = facts(
  'keyword_id date device',
  ['kwOne', '2026-01-31', 'mobile', 1, 3, 5],
  ['kwOne', '2026-02-01', 'mobile', 1, 3, 5],
  ['kwOne', '2026-03-01', 'mobile', 2, 4, 6],
);
const TABLES = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'short', keyword_history_days: 30 }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    { ...PROJECT, id: 'Short', workspace_id: 'short' },
    { ...PROJECT, id: 'Fresh', synced_through: null },
  ],
  keywords: [keyword('kwOne', 'red shoes'), { ...keyword('kwOne', 'red shoes'), project_id: 'Short' }],
  site_daily: [...SITE, ...ofProject('Other', SITE), ...ofProject('Fresh', SITE)],
  keyword_daily: [...DAYS, ...ofProject('Short', DAYS)],
};

interface Entry {
  readonly table: string;
  readonly part: string;
  readonly rows: number;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly href: string;
}
interface Manifest {
  readonly revision: number;
  readonly since: number | null;
  readonly files: readonly Entry[];
  readonly removed: readonly object[];
}

const manifestOf = async ({ get }: World, query = '', id = 'Proj1'): Promise<Manifest> => {
  const { status, body } = await get(`/projects/${id}/snapshot${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body as Manifest;
};

async function fetchFile({ app, key }: World, url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') {
  const response = await app.inject({ method, url, headers: { authorization: `Bearer ${key}`, ...headers } });
  return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
}

const places = ({ files }: Manifest) => files.map(({ table, part }) => `${table} ${part}`);

t.test('the manifest names all files of facts, and each is what it says', async (t) => {
  const world = await makeWorld(t, TABLES);
  const manifest = await manifestOf(world);
  t.match(manifest, { project: { id: 'Proj1', domain: 'shop.example' }, revision: Number, since: null, removed: [] });
  t.strictSame(places(manifest), [
    'keyword_daily 2026-01',
    'keyword_daily 2026-02',
    'keyword_daily 2026-03',
    'site_daily all',
  ]);
  const site = manifest.files[3]!;
  t.match(site, { rows: 2, firstDay: '2026-02-27', lastDay: '2026-03-01' });
  for (const { href, bytes, sha256 } of manifest.files) {
    const { status, headers, bytes: sent } = await fetchFile(world, href);
    t.match(
      { status, headers },
      {
        status: 200,
        headers: {
          'content-type': 'application/vnd.apache.parquet',
          'content-length': String(bytes),
          'accept-ranges': 'bytes',
          'cache-control': 'no-store',
          etag: `"${sha256}"`,
          'x-ratelimit-limit': '2400',
        },
      },
    );
    t.equal(createHash('sha256').update(sent).digest('hex'), sha256, href);
  }
  const copy = join(temporaryFolder(t), 'site.parquet');
  writeFileSync(copy, (await fetchFile(world, site.href)).bytes);
  const rows = await duckdb(`select * from read_parquet(${quoted(copy)}) order by date`);
  t.match(rows, [
    { date: '2026-02-27', device: 'mobile', clicks: '3', impressions: '100', sum_position: '900' },
    { date: '2026-03-01', device: 'desktop' },
  ]);
});

t.test('parts of a file', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { href, bytes: size, sha256 } = (await manifestOf(world)).files[3]!;
  const whole = (await fetchFile(world, href)).bytes;
  const part = (range: string, more = {}) => fetchFile(world, href, { range, ...more });
  const spans: readonly (readonly [string, number, number])[] = [
    ['bytes=0-3', 0, 3],
    ['bytes=4-', 4, size - 1],
    ['bytes=-8', size - 8, size - 1],
    [`bytes=-${size + 5}`, 0, size - 1],
    [`bytes=10-${size + 5}`, 10, size - 1],
    [`bytes=${size - 1}-${size - 1}`, size - 1, size - 1],
  ];
  for (const [range, start, end] of spans) {
    const { status, headers, bytes } = await part(range);
    t.match(
      { status, headers },
      {
        status: 206,
        headers: {
          'content-range': `bytes ${start}-${end}/${size}`,
          'content-length': String(end - start + 1),
          etag: `"${sha256}"`,
        },
      },
      range,
    );
    t.ok(bytes.equals(whole.subarray(start, end + 1)), range);
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0', `bytes=${size + 10}-${size + 20}`]) {
    const { status, headers, bytes } = await part(range);
    t.match(
      { status, headers },
      { status: 416, headers: { 'content-range': `bytes */${size}`, 'cache-control': 'no-store' } },
      range,
    );
    t.match(JSON.parse(bytes.toString()), { error: { code: 'invalid_request', message: /Range/ } });
  }
  for (const range of ['bytes=5-2', 'bytes=-', 'bytes=0-1,4-5', 'lines=0-3', 'bytes=a-b']) {
    t.match(await part(range), { status: 200, headers: { 'content-length': String(size) } }, `ignored: ${range}`);
  }
  t.equal((await part('bytes=0-3', { 'if-range': `"${sha256}"` })).status, 206);
  t.equal(
    (await part('bytes=0-3', { 'if-range': '"another"' })).status,
    200,
    'a part of another file is no part of this one',
  );
  t.equal((await fetchFile(world, href, { 'if-none-match': `"${sha256}"` })).status, 304);

  const head = await fetchFile(world, href, { range: 'bytes=0-3' }, 'HEAD');
  t.match(head, { status: 200, headers: { 'content-length': String(size), 'accept-ranges': 'bytes' } });
  t.equal(head.bytes.length, 0);
});

t.test('nine tables are read in place within the limits, and reading without end is not', async (t) => {
  const world = await makeWorld(t, {
    ...TABLES,
    keyword_page_daily: facts('keyword_id date url', ['kwOne', '2026-03-01', 'https://shop.example/a', 1, 2, 3]),
    country_daily: facts('date country', ['2026-03-01', 'usa', 1, 3, 10]),
    country_monthly: facts('month country', ['2025-12-01', 'usa', 31, 310, 620]),
    appearance_daily: facts('date appearance', ['2026-03-01', 'PRODUCT_SNIPPETS', 1, 9, 9]),
    brand_daily: facts('date segment', ['2026-03-01', 'brand', 1, 5, 2]),
    page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 0]),
    query_daily: facts('date query country', ['2026-03-01', 'red shoes', 'usa', 1, 2, 0]),
  });
  const { files } = await manifestOf(world);
  t.equal(new Set(files.map(({ table }) => table)).size, 9);

  // As DuckDB reads: the size, the footer, and then columns.
  let last: Awaited<ReturnType<typeof fetchFile>> | undefined;
  let parts = 0;
  for (const { href, bytes: size } of files) {
    const spans = Array.from({ length: 12 }, (_, index) => `bytes=${4 + index}-${size - 9}`);
    for (const range of [undefined, 'bytes=-8', ...spans]) {
      last = await (range === undefined ? fetchFile(world, href, {}, 'HEAD') : fetchFile(world, href, { range }));
      if (last.status !== (range === undefined ? 200 : 206)) t.fail(`${last.status} for ${range} of ${href}`);
      parts++;
    }
  }
  t.ok(parts > 120, `${parts} requests`);
  t.match(last?.headers, {
    'x-ratelimit-limit': '2400',
    'x-ratelimit-remaining': String(2400 - parts),
    'x-ratelimit-reset': '60',
  });
  const { headers } = await world.get('/projects');
  t.match(headers, { 'x-ratelimit-limit': '120', 'x-ratelimit-remaining': '118' }, 'the list of files and this one');

  await setRequestsPerMinute(world.catalog, 'acme', 3);
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'greedy', by: null, at: 0 });
  const { href } = files[0]!;
  const repeat = async (times: number, more: object) => {
    const answers = [];
    for (let time = 0; time < times; time++) answers.push(await fetchFile({ ...world, key }, href, more));
    return answers;
  };
  const ranges = await repeat(61, { range: 'bytes=0-3' });
  t.equal(
    ranges.findIndex(({ status }) => status === 429),
    60,
    '20 times the requests of the key',
  );
  const refused = ranges.at(-1)!;
  t.match(refused.headers, { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'retry-after': '60' });
  t.match(refused.bytes.toString(), /Too many requests for files with this key; the limit is 60 per minute/);
  t.equal((await repeat(1, {}))[0]!.status, 429, 'whole files count, too');
});

t.test('since a revision: what changed, what is gone', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { revision } = await manifestOf(world);
  t.match(await manifestOf(world, `?since=${revision}`), { revision, since: revision, files: [], removed: [] });

  await world.load({ site_daily: facts('date device', ['2026-03-02', 'mobile', 5, 6, 7]) });
  const second = await manifestOf(world, `?since=${revision}`);
  t.ok(second.revision > revision);
  t.match(second, { since: revision, files: [{ table: 'site_daily', part: 'all', rows: 3 }], removed: [] });
  t.equal(second.files.length, 1);

  // A load whose span reaches over a month without rows empties that month.
  await world.load({
    keyword_daily: facts(
      'keyword_id date device',
      ['kwOne', '2026-01-31', 'mobile', 9, 9, 9],
      ['kwOne', '2026-03-01', 'mobile', 9, 9, 9],
    ),
  });
  const third = await manifestOf(world, `?since=${second.revision}`);
  t.strictSame(places(third), ['keyword_daily 2026-01', 'keyword_daily 2026-03']);
  t.strictSame(third.removed, [{ table: 'keyword_daily', part: '2026-02' }]);
  t.strictSame(places(await manifestOf(world, `?since=${revision}`)), [...places(third), 'site_daily all']);

  await world.load({ keyword_daily: facts('keyword_id date device', ['kwOne', '2026-02-01', 'mobile', 1, 1, 1]) });
  const fourth = await manifestOf(world, `?since=${third.revision}`);
  t.match(fourth, { files: [{ table: 'keyword_daily', part: '2026-02' }], removed: [] });
  t.match(await manifestOf(world, `?since=${revision}`), { removed: [] }, 'it is there again');

  for (const unknown of [0, fourth.revision + 1]) {
    const all = await manifestOf(world, `?since=${unknown}`);
    t.match(all, { since: null, removed: [] }, `${unknown}: not known, so all there is`);
    t.equal(all.files.length, 4);
  }
  for (const wrong of ['-1', 'x', '1.5', '']) {
    t.match(await world.get(`/projects/Proj1/snapshot?since=${wrong}`), {
      status: 400,
      body: { error: { message: /since/ } },
    });
  }
});

t.test('a file that was replaced is there for a while, and one of another project never', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  const { href, sha256, bytes } = (await manifestOf(world)).files[3]!;
  await world.load({ site_daily: facts('date device', ['2026-03-02', 'mobile', 5, 6, 7]) });
  t.match(await fetchFile(world, href), {
    status: 200,
    headers: { etag: `"${sha256}"`, 'content-length': String(bytes) },
  });
  rmSync(join(world.dataFolder, storedAt(href)));
  t.equal((await fetchFile(world, href)).status, 404, 'until it is removed');

  const { key } = await createKey(world.catalog, { workspace: 'other', name: 'test', by: null, at: 0 });
  const theirs = { ...world, key };
  const own = (await manifestOf(world)).files[3]!.href;
  t.equal((await fetchFile(theirs, own)).status, 404);
  t.equal((await fetchFile(theirs, own.replace('Proj1', 'Other'))).status, 404);
  t.equal((await fetchFile(world, own.replace('Proj1', 'Other'))).status, 404);
  t.equal((await fetchFile({ ...world, key: 'x' }, own)).status, 401);
  const file = own.slice(own.lastIndexOf('/') + 1);
  for (const name of [
    'nothing',
    'site_daily-',
    'site_daily-all.parquet',
    `keyword_all-${file}`,
    `site_daily-..%2f..%2f..%2fcatalog.sqlite`,
    `site_daily-../${file}`,
  ]) {
    t.equal((await fetchFile(world, `/api/v1/projects/Proj1/snapshot/${name}`)).status, 404, name);
  }
});

/** Where a file of a snapshot is in the data folder. */
function storedAt(href: string): string {
  const [, project, table, file] = /projects\/(\w+)\/snapshot\/(\w+_daily)-(.+)$/.exec(href)!;
  return `facts/${table}/${project}/${file}`;
}

t.test('a project that has the id of a removed one gets none of its files', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { revision, files } = await manifestOf(world);
  await world.load(
    { workspaces: [WORKSPACE], projects: [{ ...PROJECT, id: 'Fresh', synced_through: null }] },
    { replace: true, confirmDelete: ['Proj1'] },
  );
  t.equal((await fetchFile(world, files[3]!.href)).status, 404);
  await world.load({ projects: [PROJECT], site_daily: SITE });
  t.equal((await fetchFile(world, files[3]!.href)).status, 404);
  t.match(await manifestOf(world, `?since=${revision}`), { since: null, files: [{ table: 'site_daily' }] });
});

t.test('keyword files end where the history of the plan does', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { key } = await createKey(world.catalog, { workspace: 'short', name: 'test', by: null, at: 0 });
  const get: World['get'] = (path) => world.get(path, { authorization: `Bearer ${key}` });
  // 30 days to 2026-03-10 begin on 2026-02-09; February ends on its first day here.
  t.strictSame(places(await manifestOf({ ...world, get }, '', 'Short')), ['keyword_daily 2026-03']);
  t.strictSame((await manifestOf(world, '', 'Fresh')).files, [], 'before the first sync there is nothing');
});

t.test('no file has days of keywords before the history of the plan', async (t) => {
  const pages = facts('keyword_id date url', ['kwOne', '2026-02-08', 'https://shop.example/', 1, 3, 5]);
  const first = facts('keyword_id date device', ['kwOne', '2026-02-09', 'mobile', 1, 3, 5]);
  const last = facts('keyword_id date device', ['kwOne', '2026-02-08', 'mobile', 1, 3, 5]);
  const world = await makeWorld(t, { ...TABLES, keyword_daily: ofProject('Short', first) });
  const { key } = await createKey(world.catalog, { workspace: 'short', name: 'test', by: null, at: 0 });
  const short = { ...world, key, get: (path: string) => world.get(path, { authorization: `Bearer ${key}` }) };
  const manifest = await manifestOf(short, '', 'Short');
  t.strictSame(places(manifest), ['keyword_daily 2026-02'], 'from the first day of the history on');
  const { href } = manifest.files[0]!;
  t.equal((await fetchFile(short, href)).status, 200);
  await world.load({
    keyword_daily: ofProject('Short', [...last, ...first]),
    keyword_page_daily: ofProject('Short', pages),
  });
  t.strictSame(places(await manifestOf(short, '', 'Short')), [], 'a day more, which the plan does not have');
  const wholeMonth = (await world.catalog.statements.all<{ file: string }>('known_files', {})).map(({ file }) => file);
  for (const file of wholeMonth.filter(
    (name) => name.includes('keyword_daily/Short') || name.includes('page_daily/Short'),
  )) {
    const [table, , name] = file.split('/').slice(1);
    const path = `/api/v1/projects/Short/snapshot/${table}-${name}`;
    t.equal((await fetchFile(short, path)).status, 404, path);
  }
});

t.test('a damaged file is not handed out', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  const { href } = (await manifestOf(world)).files[3]!;
  appendFileSync(join(world.dataFolder, storedAt(href)), 'x');
  for (const headers of [{}, { range: 'bytes=0-3' }]) {
    const { status, bytes } = await fetchFile(world, href, headers);
    t.match({ status, text: bytes.toString() }, { status: 500, text: /"server_error"/ });
    t.notMatch(bytes.toString(), 'PAR1');
  }
});

t.test('after the catalog was rebuilt nothing is taken for unchanged', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  const { revision } = await manifestOf(world);
  await rebuild(world.dataFolder);
  const after = await manifestOf(world, `?since=${revision}`);
  t.match(after, { since: null });
  t.equal(after.files.length, 4);
});

t.test('an unchanged manifest is not sent again', async (t: Test) => {
  const world = await makeWorld(t, TABLES);
  const { headers } = await world.ask('/snapshot');
  const again = { authorization: `Bearer ${world.key}`, 'if-none-match': String(headers['etag']) };
  const url = '/api/v1/projects/Proj1/snapshot';
  t.equal((await world.app.inject({ url, headers: again })).statusCode, 304);
  await world.load({ site_daily: facts('date device', ['2026-03-02', 'mobile', 5, 6, 7]) });
  t.equal((await world.app.inject({ url, headers: again })).statusCode, 200);
});
