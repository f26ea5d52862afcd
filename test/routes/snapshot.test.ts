// The snapshot endpoint serves a project's files exactly as stored, and lists changes since a revision.
import { createHash } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { setRequestsPerMinute } from '../../server/catalog/workspaces.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { createKey } from '../../server/operations/keys.ts';
import { duckdb, quoted } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeWorld, ofProject, PROJECT, temporaryFolder, WORKSPACE, type World } from '../world.ts';

const SITE = facts('date device', ['2026-02-27', 'mobile', 3, 100, 900], ['2026-03-01', 'desktop', 1, 10, 30]);
const MORE = facts('date device', ['2026-03-02', 'mobile', 5, 6, 7]);
const days = (...rows: readonly (readonly [day: string, count: number])[]) =>
  facts('keyword_id date device', ...rows.map(([day, count]) => ['kwOne', day, 'mobile', count, count + 2, count + 4]));
const DAYS = days(['2026-01-31', 1], ['2026-02-01', 1], ['2026-03-01', 2]);
const TABLES = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'short', keyword_history_days: 30 }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    { ...PROJECT, id: 'Short', workspace_id: 'short' },
    { ...PROJECT, id: 'Fresh', synced_through: null },
  ],
  keywords: [keyword('kwOne', 'red shoes'), ...ofProject('Short', [keyword('kwOne', 'red shoes')])],
  site_daily: [...SITE, ...ofProject('Other', SITE), ...ofProject('Fresh', SITE)],
  keyword_daily: [...DAYS, ...ofProject('Short', DAYS)],
};

interface Manifest {
  readonly revision: number;
  readonly since: number | null;
  readonly files: readonly Readonly<Record<'table' | 'part' | 'sha256' | 'href', string> & { bytes: number }>[];
  readonly removed: readonly { readonly table: string; readonly part: string }[];
}

const manifestOf = async ({ get }: Pick<World, 'get'>, query = '', id = 'Proj1'): Promise<Manifest> => {
  const { status, body } = await get(`/projects/${id}/snapshot${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body as Manifest;
};
/** What is listed, what changed and what is gone. */
const placesOf = ({ since, files, removed }: Manifest) => [
  since,
  ...files.map(({ table, part }) => `${table} ${part}`),
  ...removed.map(({ table, part }) => `- ${table} ${part}`),
];
const ALL = ['keyword_daily 2026-01', 'keyword_daily 2026-02', 'keyword_daily 2026-03', 'site_daily all'];

type Asking = Pick<World, 'app' | 'key'>;
async function fetchFile({ app, key }: Asking, url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') {
  const response = await app.inject({ method, url, headers: { authorization: `Bearer ${key}`, ...headers } });
  return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
}
const statusOf = async (asking: Asking, url: string, headers = {}) => (await fetchFile(asking, url, headers)).status;

/** The world as a key of another workspace sees it. */
async function asKeyOf(world: World, workspace: string) {
  const { key } = await createKey(world.catalog, { workspace, name: 'test', at: 0 });
  return { app: world.app, key, get: (path: string) => world.get(path, { authorization: `Bearer ${key}` }) };
}

/** Where a file of a snapshot is in the data folder. */
function storedAt(href: string): string {
  const [, project, table, file] = /projects\/(\w+)\/snapshot\/(\w+_daily)-(.+)$/.exec(href)!;
  return `facts/${table}/${project}/${file}`;
}

t.test('the manifest names all files of facts, and each is what it says', async (t) => {
  const world = await makeWorld(t, TABLES);
  const manifest = await manifestOf(world);
  t.match(manifest, { project: { id: 'Proj1', domain: 'shop.example' }, revision: Number });
  t.strictSame(placesOf(manifest), [null, ...ALL]);
  t.match(manifest.files[3], { rows: 2, firstDay: '2026-02-27', lastDay: '2026-03-01' });
  for (const { href, bytes, sha256 } of manifest.files) {
    const { status, headers, bytes: sent } = await fetchFile(world, href);
    t.match(headers, {
      'content-type': 'application/vnd.apache.parquet',
      'content-length': String(bytes),
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      etag: `"${sha256}"`,
      'x-ratelimit-limit': '2400',
    });
    t.strictSame([status, createHash('sha256').update(sent).digest('hex')], [200, sha256], href);
  }
  const copy = join(temporaryFolder(t), 'site.parquet');
  writeFileSync(copy, (await fetchFile(world, manifest.files[3]!.href)).bytes);
  const rows = await duckdb(
    `select date::varchar as date, device, clicks::int as clicks from ${quoted(copy)} order by 1`,
  );
  t.strictSame(rows, [
    { date: '2026-02-27', device: 'mobile', clicks: 3 },
    { date: '2026-03-01', device: 'desktop', clicks: 1 },
  ]);
});

t.test('parts of a file', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { href, bytes: size, sha256 } = (await manifestOf(world)).files[3]!;
  const whole = (await fetchFile(world, href)).bytes;
  const etag = `"${sha256}"`;
  const all = [200, undefined, size] as const;
  const none = [416, `bytes */${size}`] as const;
  const span = (start: number, end: number) => [206, `bytes ${start}-${end}/${size}`, end - start + 1, start] as const;
  for (const [range, [status, contentRange, length, start = 0], more = {}] of [
    ['bytes=0-3', span(0, 3)],
    ['bytes=4-', span(4, size - 1)],
    ['bytes=-8', span(size - 8, size - 1)],
    [`bytes=-${size + 5}`, span(0, size - 1)],
    [`bytes=10-${size + 5}`, span(10, size - 1)],
    [`bytes=${size - 1}-${size - 1}`, span(size - 1, size - 1)],
    [`bytes=${size}-`, none],
    ['bytes=-0', none],
    [`bytes=${size + 10}-${size + 20}`, none],
    // What is not understood is ignored.
    ...(['bytes=5-2', 'bytes=-', 'bytes=0-1,4-5', 'lines=0-3', 'bytes=a-b'] as const).map(
      (wrong) => [wrong, all] as const,
    ),
    ['bytes=0-3', span(0, 3), { 'if-range': etag }],
    // A part of another file is no part of this one.
    ['bytes=0-3', all, { 'if-range': '"another"' }],
  ] as readonly (readonly [string, readonly [number, string?, number?, number?], object?])[]) {
    const { status: got, headers, bytes } = await fetchFile(world, href, { range, ...more });
    t.strictSame([got, headers['content-range']], [status, contentRange], range);
    if (length === undefined) {
      t.match(JSON.parse(bytes.toString()), { error: { code: 'invalid_request', message: /Range/ } });
      t.equal(headers['cache-control'], 'no-store');
      continue;
    }
    t.strictSame([headers['content-length'], headers['etag']], [String(length), etag], range);
    t.ok(bytes.equals(whole.subarray(start, start + length)), range);
  }
  t.equal(await statusOf(world, href, { 'if-none-match': etag }), 304);
  const head = await fetchFile(world, href, { range: 'bytes=0-3' }, 'HEAD');
  t.match(head, { status: 200, headers: { 'content-length': String(size), 'accept-ranges': 'bytes' } });
  t.equal(head.bytes.length, 0);
});

t.test('tables are read in place within the limits of files, which are 20 times those of requests', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { files } = await manifestOf(world);
  for (const { href, bytes: size } of files)
    for (let start = 0; start < 30; start++) await fetchFile(world, href, { range: `bytes=${start}-${size - 1}` });
  t.match((await fetchFile(world, files[0]!.href, {}, 'HEAD')).headers, {
    'x-ratelimit-limit': '2400',
    'x-ratelimit-remaining': String(2400 - 121),
    'x-ratelimit-reset': '60',
  });
  const { headers } = await world.get('/projects');
  t.match(headers, { 'x-ratelimit-limit': '120', 'x-ratelimit-remaining': '118' }, 'the manifest and this one');

  await setRequestsPerMinute(world.catalog, 'acme', 3);
  const greedy = await asKeyOf(world, 'acme');
  const statuses: number[] = [];
  for (let time = 0; time < 60; time++) statuses.push(await statusOf(greedy, files[0]!.href, { range: 'bytes=0-3' }));
  t.strictSame(new Set(statuses), new Set([206]));
  const refused = await fetchFile(greedy, files[0]!.href);
  t.match(refused, {
    status: 429,
    headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'retry-after': '60' },
  });
  t.match(refused.bytes.toString(), /Too many requests for files with this key; the limit is 60 per minute/);
});

t.test('since a revision: what changed, what is gone', async (t) => {
  const world = await makeWorld(t, TABLES);
  const since = async (revision: number) => placesOf(await manifestOf(world, `?since=${revision}`));
  const { revision: first } = await manifestOf(world);
  const { headers } = await world.ask('/snapshot');
  const known = { 'if-none-match': String(headers['etag']) };
  const url = '/api/v1/projects/Proj1/snapshot';
  t.strictSame([await since(first), await statusOf(world, url, known)], [[first], 304]);

  await world.load({ site_daily: MORE });
  t.strictSame([await since(first), await statusOf(world, url, known)], [[first, 'site_daily all'], 200]);
  const { revision: second } = await manifestOf(world);
  // A load whose span reaches over a month without rows empties that month.
  await world.load({ keyword_daily: days(['2026-01-31', 9], ['2026-03-01', 9]) });
  const changed = ['keyword_daily 2026-01', 'keyword_daily 2026-03'];
  t.strictSame(await since(second), [second, ...changed, '- keyword_daily 2026-02']);
  t.strictSame(await since(first), [first, ...changed, 'site_daily all', '- keyword_daily 2026-02']);
  const { revision: third } = await manifestOf(world);
  await world.load({ keyword_daily: days(['2026-02-01', 1]) });
  t.strictSame(await since(third), [third, 'keyword_daily 2026-02']);
  t.strictSame(await since(first), [first, ...ALL], 'it is there again');
  const { revision: last } = await manifestOf(world);
  for (const unknown of [0, last + 1]) t.strictSame(await since(unknown), [null, ...ALL], `${unknown} is not known`);
  for (const wrong of ['-1', 'x', '1.5', ''])
    t.match(await world.ask(`/snapshot?since=${wrong}`), { status: 400, body: { error: { message: /since/ } } });
});

t.test('a file that was replaced is there for a while, and one of another project never', localOnly, async (t) => {
  const world = await makeWorld(t, TABLES);
  const { href, sha256 } = (await manifestOf(world)).files[3]!;
  await world.load({ site_daily: MORE });
  t.match(await fetchFile(world, href), { status: 200, headers: { etag: `"${sha256}"` } });
  rmSync(join(world.dataFolder, storedAt(href)));
  t.equal(await statusOf(world, href), 404, 'until it is removed');

  const theirs = await asKeyOf(world, 'other');
  const own = (await manifestOf(world)).files[3]!.href;
  const other = own.replace('Proj1', 'Other');
  t.strictSame(
    [await statusOf(theirs, own), await statusOf(theirs, other), await statusOf(world, other)],
    [404, 404, 404],
  );
  t.equal(await statusOf({ ...world, key: 'x' }, own), 401);
  const file = own.slice(own.lastIndexOf('/') + 1);
  for (const name of [
    ...['nothing', 'site_daily-', 'site_daily-all.parquet', `keyword_all-${file}`, `site_daily-../${file}`],
    `site_daily-..%2f..%2f..%2fcatalog.sqlite`,
  ])
    t.equal(await statusOf(world, `/api/v1/projects/Proj1/snapshot/${name}`), 404, name);
});

t.test('a project that has the id of a removed one gets none of its files', async (t) => {
  const world = await makeWorld(t, TABLES);
  const { revision, files } = await manifestOf(world);
  const left = { workspaces: [WORKSPACE], projects: [{ ...PROJECT, id: 'Fresh', synced_through: null }] };
  await world.load(left, { replace: true, confirmDelete: ['Proj1'] });
  t.equal(await statusOf(world, files[3]!.href), 404);
  await world.load({ projects: [PROJECT], site_daily: SITE });
  t.equal(await statusOf(world, files[3]!.href), 404);
  t.strictSame(placesOf(await manifestOf(world, `?since=${revision}`)), [null, 'site_daily all']);
});

t.test('no file has days of keywords before the history of the plan', async (t) => {
  const world = await makeWorld(t, TABLES);
  const short = await asKeyOf(world, 'short');
  const places = async (): Promise<unknown> => placesOf(await manifestOf(short, '', 'Short'));
  // 30 days to 2026-03-10 begin on 2026-02-09.
  t.strictSame(await places(), [null, 'keyword_daily 2026-03']);
  t.strictSame((await manifestOf(world, '', 'Fresh')).files, [], 'before the first sync there is nothing');
  await world.load({ keyword_daily: ofProject('Short', days(['2026-01-01', 1], ['2026-02-09', 1])) });
  t.strictSame(await places(), [null, 'keyword_daily 2026-02', 'keyword_daily 2026-03'], 'from its first day on');
  const pages = facts('keyword_id date url', ['kwOne', '2026-02-08', 'https://shop.example/', 1, 3, 5]);
  await world.load({
    keyword_daily: ofProject('Short', days(['2026-02-08', 1], ['2026-02-09', 1])),
    keyword_page_daily: ofProject('Short', pages),
  });
  t.strictSame(await places(), [null, 'keyword_daily 2026-03'], 'a day more, which the plan does not have');
  const known = await world.catalog.statements.all<{ file: string }>('fact-files.known', {});
  const statuses: Record<string, number> = {};
  for (const { file } of known) {
    const [, table = '', project, name] = file.split('/');
    if (project === 'Short' && name!.startsWith('2026-02') && !table.includes('monthly'))
      statuses[table] = await statusOf(short, `/api/v1/projects/Short/snapshot/${table}-${name}`);
  }
  t.match(statuses, { keyword_daily: 404, keyword_page_daily: 404 });
});

t.test(
  'a damaged file is not handed out, and nothing is taken for unchanged by a rebuilt catalog',
  localOnly,
  async (t) => {
    const world = await makeWorld(t, TABLES);
    const { revision, files } = await manifestOf(world);
    await rebuild(world.dataFolder);
    t.strictSame(placesOf(await manifestOf(world, `?since=${revision}`)), [null, ...ALL]);
    const { href } = files[3]!;
    appendFileSync(join(world.dataFolder, storedAt(href)), 'x');
    for (const headers of [{}, { range: 'bytes=0-3' }]) {
      const { status, bytes } = await fetchFile(world, href, headers);
      t.match({ status, text: bytes.toString() }, { status: 500, text: /^(?!.*PAR1).*"server_error"/s });
    }
  },
);
