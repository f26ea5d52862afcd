// The end of pages with 100 results makes ratios unsafe for properties that show it, and only for these.
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { type Answer, facts, keyword, makeWorld, ofProject, PROJECT, type Row } from '../world.ts';

const DAYS = eachDay('2025-08-13', '2025-10-12');
const EVENT = '2025-09-10';

interface Shape {
  /** Impressions a day on desktop before and since the change. */
  readonly desktop: readonly [before: number, since: number];
  readonly mobile: readonly [before: number, since: number];
  /** Sums of positions an impression, on desktop. */
  readonly positions: readonly [before: number, since: number];
  readonly without?: string;
  readonly unknownOn?: string;
}

const FLAT: Shape = { desktop: [100, 100], mobile: [200, 200], positions: [9, 9] };
const UNSEEN: Readonly<Record<string, Shape>> = {
  Proj1: FLAT,
  Level: { ...FLAT, desktop: [100, 91] },
  Grown: { ...FLAT, desktop: [100, 150] },
  Mixed: { ...FLAT, mobile: [200, 90] },
  Alone: { ...FLAT, mobile: [0, 0] },
  Worse: { ...FLAT, positions: [9, 12] },
};
const SEEN: Readonly<Record<string, Shape>> = {
  Halve: { ...FLAT, desktop: [100, 50] },
  Tenth: { ...FLAT, desktop: [100, 89] },
  Phone: { ...FLAT, mobile: [200, 300] },
  Nears: { ...FLAT, positions: [9, 8] },
  Small: { ...FLAT, desktop: [35, 35] },
  Hole1: { ...FLAT, without: '2025-08-20' },
  Hole2: { ...FLAT, without: '2025-10-12' },
  Whole: { ...FLAT, unknownOn: '2025-09-20' },
};
const SHAPES = { ...UNSEEN, ...SEEN };

function siteRows({ desktop, mobile, positions, without, unknownOn }: Shape): Row[] {
  return facts(
    'date device',
    ...DAYS.filter((day) => day !== without).flatMap((day) => {
      const since = day < EVENT ? 0 : 1;
      if (day === unknownOn) return [[day, 'unknown', 10, 300, 2700]];
      const rows = [[day, 'desktop', 5, desktop[since], desktop[since] * positions[since]]];
      return mobile[since] === 0 ? rows : [...rows, [day, 'mobile', 5, mobile[since], mobile[since] * 9]];
    }),
  );
}

const listed = (column: string, name: string) =>
  facts(`date ${column} country`, ...DAYS.map((day) => [day, name, 'gbr', 5, 100, 900]));
const world = await makeWorld(t, {
  projects: Object.keys(SHAPES).map((id) => ({
    ...PROJECT,
    id,
    synced_through: '2025-10-12',
    provisional_after: null,
  })),
  keywords: [keyword('Kw001', 'boots'), { ...keyword('Kw002', 'boots'), project_id: 'Halve' }],
  site_daily: Object.entries(SHAPES).flatMap(([id, shape]) => ofProject(id, siteRows(shape))),
  ...Object.fromEntries(
    [
      ['page_daily', listed('url', 'https://shop.example/')] as const,
      ['query_daily', listed('query', 'boots')] as const,
    ].map(([table, rows]) => [table, [...rows, ...ofProject('Halve', rows)]]),
  ),
  keyword_daily: ['Proj1', 'Halve'].flatMap((id, index) =>
    ofProject(
      id,
      facts('keyword_id date device', ...DAYS.map((day) => [`Kw00${index + 1}`, day, 'desktop', 2, 50, 450])),
    ),
  ),
});

/** Days on both sides of the change. */
const ACROSS = 'from=2025-09-15&to=2025-09-28&compare=2025-08-18..2025-08-31';
const MARKED = ['impressions', 'ctr', 'position'];
interface Compared {
  readonly unsafe: Readonly<Record<string, readonly string[]>>;
}

/** The metrics that an event of the provider makes unsafe. */
const markedIn = ({ unsafe }: Compared): string[] =>
  Object.keys(unsafe).filter((metric) => unsafe[metric]!.includes('provider_event'));
const get = async (path: string): Promise<Answer['body']> => {
  const { status, body } = await world.get(path);
  t.equal(status, 200, path);
  return body;
};

t.test('a property that kept its impressions and positions on desktop does not show the change', async (t) => {
  const { projects } = await get(`/portfolio?${ACROSS}&quality=1`);
  const inPortfolio = new Map(projects.map((row: { id: string }) => [row.id, row]));
  for (const id of Object.keys(SHAPES)) {
    const expected = id in SEEN ? MARKED : [];
    const site = await get(`/projects/${id}/site?${ACROSS}&quality=1`);
    t.strictSame(markedIn(site.totals), expected, id);
    const days = site.daily as Compared[];
    t.ok(days.every((day) => markedIn(day).length === expected.length));
    const titles = (quality: { events: { from: string }[] }) => quality.events.map(({ from }) => from);
    const isShown = id in SEEN;
    const edge = await get(`/projects/${id}/site?from=2025-09-10&to=2025-09-14&quality=1`);
    t.strictSame(titles(edge.quality), isShown ? ['2025-05-13', EVENT] : ['2025-05-13'], `${id}: quality`);
    const row = inPortfolio.get(id) as { totals: Compared };
    t.strictSame(markedIn(row.totals), expected, `${id}: portfolio`);
  }
});

t.test('every report of both ranges says the same', async (t) => {
  for (const [id, expected] of [
    ['Proj1', []],
    ['Halve', MARKED],
  ] as const) {
    const path = `/projects/${id}`;
    const { keywords } = await get(`${path}/keywords?${ACROSS}`);
    t.strictSame(markedIn(keywords[0].totals ?? keywords[0]), expected, 'keywords');
    const { devices } = await get(`${path}/breakdowns?${ACROSS}`);
    for (const { device, name, ...row } of devices) {
      t.strictSame(markedIn(row), (device ?? name) === 'desktop' ? expected : [], `${device ?? name}`);
    }
    for (const list of ['pages', 'queries']) {
      const body = await get(`${path}/${list}?${ACROSS}`);
      t.strictSame(markedIn(body[list][0]), expected, list);
    }
    const { events, unsafe } = await get(`${path}/explain?${ACROSS}`);
    const reasons = unsafe.map(({ reason }: { reason: string }) => reason);
    t.equal(reasons.includes('provider_event'), id === 'Halve', 'explain');
    t.equal(
      events.some(({ from }: { from: string }) => from === EVENT),
      false,
      'ranges that do not touch the days of the change',
    );
    const edge = await get(`${path}/explain?from=2025-09-12&to=2025-09-18&compare=2025-08-18..2025-08-24`);
    t.equal(
      edge.events.some(({ from }: { from: string }) => from === EVENT),
      id === 'Halve',
    );
    const { tested } = await get(`${path}/findings?from=2025-09-15&to=2025-09-28`);
    t.equal(JSON.stringify(tested).includes('provider_event'), id === 'Halve', 'findings');
  }
});

t.test('agents are told of the events that a property shows', async (t) => {
  const agent = await connectAgent(t, new URL('/mcp', await world.app.listen({ port: 0 })), {
    authorization: `Bearer ${world.key}`,
  });
  const range = { from: '2025-09-15', to: '2025-09-28', compare: '2025-08-18..2025-08-31' };
  for (const id of ['Proj1', 'Halve']) {
    const { body } = await callTool(agent, 'changes', { project: id, kind: 'queries', ...range });
    t.equal(
      body.events.some(({ from }: { from: string }) => from === EVENT),
      id === 'Halve',
      id,
    );
  }
});

t.test('days that are loaded later are seen by the next answer', async (t) => {
  const unsafe = async () => markedIn((await get(`/projects/Grown/site?${ACROSS}`)).totals);
  t.strictSame(await unsafe(), []);
  await world.load({ site_daily: ofProject('Grown', siteRows({ ...FLAT, desktop: [100, 50] })) }, { replace: true });
  t.strictSame(await unsafe(), MARKED);
});
