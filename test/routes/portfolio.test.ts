// The portfolio endpoint lists all projects of the workspace with the totals of their site endpoints.
import fc from 'fast-check';
import t from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { putReconciledAt } from '../../server/catalog/sync-projects.ts';
import { syncDay } from '../sync-day.ts';
import { facts, makeWorld, NOW, ofProject, PROJECT, type Row, refusedFor, WORKSPACE } from '../world.ts';

const DAYS = Array.from({ length: 120 }, (_, index) =>
  new Date(Date.UTC(2025, 10, 11) + index * 86_400_000).toISOString().slice(0, 10),
);
const HOLES = new Set(['2026-02-03', '2026-02-20', '2026-02-21']);

/** Days of a project, all of them different from those of the others. */
function days(seed: number, until: string): Row[] {
  return facts(
    'date device',
    ...DAYS.filter((day) => day <= until && !HOLES.has(day)).flatMap((day, index) => [
      [day, 'mobile', (index * seed) % 23, 100 + seed * index, 900 + index],
      [day, 'desktop', (index + seed) % 5, 40 + index, 77 * seed],
    ]),
  );
}

const brands = facts(
  'date segment',
  ...DAYS.flatMap((day, index) => [
    [day, 'brand', index % 3, 30, 10],
    [day, 'non_brand', 1, 50, 700],
  ]),
);
const unknown = facts('date device', ['2026-03-01', 'unknown', 9, 300, 1200]);

let created = Date.parse('2025-02-01T00:00:00Z');
/** Each is younger than the one before. */
const project = (id: string, more: Row = {}): Row => {
  created += 1000;
  const created_at = new Date(created).toISOString();
  return { ...PROJECT, id, domain: `${id.toLowerCase()}.example`, created_at, ...more };
};
/** Of the server: each request comes a second after the one before, so that none is over the limit. */
let time = NOW;
const world = await makeWorld(
  t,
  {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }, { ...WORKSPACE, id: 'empty' }],
    projects: [
      PROJECT,
      project('Older', { synced_through: '2026-02-10', provisional_after: '2026-02-10', sync_status: 'warning' }),
      project('Brand', { country: 'usa', language: 'en' }),
      project('Nodev'),
      project('NoDay'),
      project('Fresh', { last_synced_at: null, synced_through: null, provisional_after: null, sync_status: 'pending' }),
      project('Other', { workspace_id: 'other' }),
      project('Setup', { setup_finished: false }),
    ],
    site_daily: [
      ...days(1, '2026-03-10'),
      ...ofProject('Older', days(2, '2026-02-10')),
      ...ofProject('Brand', days(3, '2026-03-10')),
      ...ofProject('Nodev', unknown),
      ...ofProject('Fresh', days(4, '2026-03-10')),
      ...ofProject('Other', days(5, '2026-03-10')),
    ],
    brand_daily: ofProject('Brand', brands),
  },
  { now: () => time },
);
await putReconciledAt(world.catalog, 'Brand', NOW * 1000);
await putSyncDays(world.catalog, 'Brand', [
  syncDay('site_daily', '2026-02-03', { state: 'empty' }),
  syncDay('site_daily', '2026-02-25', { state: 'failed' }),
  syncDay('site_daily', '2026-03-02', { cutOff: true }),
]);

const get: typeof world.get = (path, headers) => {
  time += 1000;
  return world.get(path, headers);
};
const IDS = ['Proj1', 'Older', 'Brand', 'Nodev', 'NoDay', 'Fresh'];

interface PortfolioRow extends Record<string, unknown> {
  readonly id: string;
  readonly totals: Record<string, number | null> | null;
}
const rows = async (query: string) => (await get(`/portfolio?${query}`)).body.projects as PortfolioRow[];
const ids = async (query: string) => (await rows(query)).map(({ id }) => id);

t.test('every project of the workspace, oldest first, as the list of projects has it', async (t) => {
  const { status, body } = await get('/portfolio');
  t.equal(status, 200);
  t.strictSame(Object.keys(body), ['paging', 'projects']);
  t.strictSame(body.paging, { total: 6, limit: 1000, offset: 0 });
  const { projects } = (await get('/projects')).body;
  const own = body.projects.map(({ range: _range, totals: _totals, ...row }: Row) => row);
  t.strictSame(own, projects);
  t.strictSame(await ids(''), IDS);
  t.strictSame(body.projects[0].range, {
    from: '2026-02-11',
    to: '2026-03-10',
    device: 'all',
    country: null,
    provisionalAfter: '2026-03-07',
  });
  t.match(body.projects[1].range, { to: '2026-02-10' }, 'each project has its own last day');
});

t.test('a row equals the site endpoint of the same project and parameters', async (t) => {
  const compare = fc.constantFrom('', 'compare=previous', 'compare=year', 'compare=2026-01-01..2026-01-20');
  const day = fc.constantFrom('2025-10-01', '2025-12-24', '2026-02-02', '2026-02-11', '2026-03-08', '2026-03-20');
  const range = fc.oneof(
    fc.constant(''),
    fc.constantFrom('1d', '9d', '120d', '486d', '3m').map((period) => `period=${period}`),
    day.map((from) => `from=${from}`),
    day.map((to) => `to=${to}`),
    fc.tuple(day, day).map(([from, to]) => `from=${from}&to=${to}`),
  );
  const device = fc.constantFrom('', 'device=mobile', 'device=tablet');
  const series = fc.constantFrom('', 'daily=1', 'daily=1&interval=week', 'daily=1&interval=month');
  const quality = fc.constantFrom('', 'quality=1');
  const question = fc.tuple(range, compare, device, series, quality);
  await fc.assert(
    fc.asyncProperty(question, async (parts) => {
      const query = parts.filter((part) => part !== '').join('&');
      const { status, body } = await get(`/portfolio?${query}`);
      const isDaily = query.includes('daily=1');
      const sites = await Promise.all(IDS.map((id) => get(`/projects/${id}/site?${query}`)));
      if (status === 400) {
        t.strictSame(
          sites.map((site) => site.status),
          IDS.map(() => 400),
          `${query}: refused for all projects`,
        );
        return t.passing();
      }
      for (const [at, { id, range: days, totals, quality: known, daily, error }] of body.projects.entries()) {
        const { status: siteStatus, body: site } = sites[at]!;
        t.equal(id, IDS[at]);
        if (siteStatus === 400) {
          t.strictSame(
            { range: days, totals, error },
            { range: null, totals: null, error: site.error },
            `${id} ${query}`,
          );
          continue;
        }
        const answered = { range: days, totals, ...(known && { quality: known }), ...(daily && { daily }) };
        const { project: _, daily: own, ...expected } = site;
        t.strictSame(answered, { ...expected, ...(isDaily && { daily: own }) }, `${id} ${query}`);
      }
      return t.passing();
    }),
    { numRuns: 60 },
  );
});

t.test('one project without an answer does not fail the others', async (t) => {
  const late = await get('/portfolio?from=2026-02-20');
  t.equal(late.status, 200);
  t.match(late.body.projects[1], {
    id: 'Older',
    syncStatus: 'warning',
    range: null,
    totals: null,
    error: { code: 'invalid_request', message: /^from \(2026-02-20\)/ },
  });
  t.match(late.body.projects[0], { id: 'Proj1', totals: { clicks: Number } });
  refusedFor(t, await get('/portfolio?from=2027-01-01'), 'from', 'a range that no project can have');
  refusedFor(t, await get('/portfolio?from=2026-01-01&period=3d'), 'period');
  refusedFor(t, await get('/portfolio?period=17m'), 'period');
  refusedFor(t, await get('/portfolio?interval=week'), 'interval', 'without days');
});

t.test('filter, sort and pages', async (t) => {
  const all = await rows('period=28d');
  const clicks = (id: string) => all.find((row) => row.id === id)!.totals!['clicks']!;
  const sorted = await ids('period=28d&sort=-clicks');
  t.strictSame(
    sorted,
    [...IDS].sort((a, b) => clicks(b) - clicks(a) || IDS.indexOf(a) - IDS.indexOf(b)),
  );
  t.strictSame(await ids('sort=domain'), ['Brand', 'Fresh', 'NoDay', 'Nodev', 'Older', 'Proj1']);
  t.strictSame(await ids('filter=domain:contains:O'), ['Proj1', 'Older', 'Nodev', 'NoDay']);
  t.strictSame(await ids('filter=syncStatus:equals:failed'), []);
  t.strictSame(await ids('filter=syncStatus:equals:warning'), ['Older']);
  t.strictSame(await ids('filter=country:equals:usa;language:equals:en'), ['Brand']);
  const limit = clicks('Brand');
  const filter = `filter=clicks:gte:${limit}`;
  t.strictSame(
    await ids(`period=28d&${filter}`),
    IDS.filter((id) => clicks(id) >= limit),
  );
  const page = await get(`/portfolio?sort=-clicks&limit=2&offset=1&period=28d`);
  t.strictSame(page.body.paging, { total: 6, limit: 2, offset: 1 });
  t.strictSame(page.body.projects, (await rows('period=28d&sort=-clicks')).slice(1, 3));
  t.strictSame(await ids('offset=6'), []);
  t.strictSame(
    (await rows('sort=-clicks&daily=1&limit=1'))[0]!['daily'],
    (await get(`/projects/${sorted[0]}/site`)).body.daily,
  );
  // Without totals, rows match no condition on them and come last.
  const late = 'from=2026-02-20';
  t.strictSame((await ids(`${late}&sort=clicks`)).at(-1), 'Older');
  t.strictSame((await ids(`${late}&sort=-clicks`)).at(-1), 'Older');
  t.notOk((await ids(`${late}&filter=clicks:neq:1`)).includes('Older'));
  refusedFor(t, await get('/portfolio?filter=query:contains:a'), 'filter');
  refusedFor(t, await get('/portfolio?sort=-traffic'), 'sort');
  refusedFor(t, await get('/portfolio?limit=5001'), 'limit');
});

t.test("only the key's own workspace", async (t) => {
  const { key } = await createKey(world.catalog, { workspace: 'other', name: 'other', by: null, at: 0 });
  const other = { authorization: `Bearer ${key}` };
  const { body } = await get('/portfolio', other);
  t.strictSame(
    body.projects.map(({ id }: PortfolioRow) => id),
    ['Other'],
  );
  t.strictSame(body.projects[0].totals, (await get('/projects/Other/site', other)).body.totals);
  const { key: none } = await createKey(world.catalog, { workspace: 'empty', name: 'none', by: null, at: 0 });
  t.strictSame((await get('/portfolio', { authorization: `Bearer ${none}` })).body, {
    paging: { total: 0, limit: 1000, offset: 0 },
    projects: [],
  });
});

t.test('an unchanged answer is known by its tag; any load of a project changes it', async (t) => {
  const authorization = `Bearer ${world.key}`;
  const path = '/portfolio?period=7d';
  const first = await get(path);
  const tag = String(first.headers['etag']);
  const again = () => world.app.inject({ url: `/api/v1${path}`, headers: { authorization, 'if-none-match': tag } });
  t.equal((await again()).statusCode, 304);
  t.equal((await again()).headers['x-ratelimit-limit'], '120', 'it counts as a request');
  await world.load({ site_daily: ofProject('Older', facts('date device', ['2026-02-10', 'mobile', 500, 900, 10])) });
  const changed = await again();
  t.equal(changed.statusCode, 200);
  t.not(changed.headers['etag'], tag);
  t.strictSame(
    changed.json().projects.map(({ totals }: PortfolioRow) => totals),
    await Promise.all(
      IDS.map(async (id) => ((await get(`/projects/${id}/site?period=7d`)).body as PortfolioRow).totals),
    ),
  );
});

t.test('flat rows have the range, the comparison and the error of each project', async (t) => {
  const path = '/portfolio?from=2026-02-20&compare=previous';
  const { projects } = (await get(path)).body;
  time += 1000;
  const { body } = await world.app.inject({
    url: `/api/v1${path}&format=ndjson`,
    headers: { authorization: `Bearer ${world.key}` },
  });
  const lines = body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  t.equal(lines.length, IDS.length);
  const { range, totals } = projects[0];
  t.match(lines[0], {
    id: 'Proj1',
    range_from: range.from,
    range_comparison_to: range.comparison.to,
    clicks: totals.clicks,
    comparison_clicks: totals.comparison.clicks,
    change_clicks: totals.change.clicks.difference,
    changeRatio_position: totals.change.position.ratio,
    unsafe_clicks: totals.unsafe.clicks,
    error_code: null,
  });
  const missing = { range_from: null, clicks: null, comparison_clicks: null, unsafe_clicks: null };
  t.match(lines[1], {
    id: 'Older',
    ...missing,
    error_code: 'invalid_request',
    error_message: projects[1].error.message,
  });
});
