import { facts, keyword, ofProject, PROJECT, type Row, type Tables, WORKSPACE } from '../world.ts';

const FIRST = Date.parse('2025-04-01');
const DAYS = 341;
const day = (at: number): string => new Date(FIRST + at * 86_400_000).toISOString().slice(0, 10);
export const LAST = day(DAYS - 1);
export const CHANGE = '2025-12-01';
export const page = (n: number): string => `https://shop.example/${n}`;

/** Equal draws in each run. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Clicks of a day: a mean by weekday and season, common to all, and noise. */
function clicksOn(at: number, size: number, draw: () => number): number {
  const season = 1 + 0.3 * Math.sin((6.28 * at) / 365);
  const mean = size * season * (at % 7 < 5 ? 1.1 : 0.75);
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * (draw() + draw() + draw() - 1.5) * 2));
}

/** Clicks of units of different sizes by day; one of them has `effect` times as many from the change on. */
function clicksOf(units: number, changed: number, effect: number): number[][] {
  return Array.from({ length: units }, (_, unit) => {
    const draw = draws(unit + 11);
    return Array.from({ length: DAYS }, (_day, at) => {
      const factor = unit === changed && day(at) >= CHANGE ? effect : 1;
      return clicksOn(at, 8 * (1 + (unit % 5)) * factor, draw);
    });
  });
}

const pageClicks = clicksOf(14, 0, 1.6);
const keywordClicks = clicksOf(12, 1, 0.4);
const KEYWORDS = keywordClicks.map((_, n) => `kw${String(n).padStart(3, '0')}`);
const rowsOf = (clicks: readonly number[][], name: (n: number) => readonly string[]) =>
  clicks.flatMap((days, n) => days.map((count, at) => [day(at), ...name(n), count, count * 10, count * 50]));

export const uuid = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-0000000000ab`;
export const note = (n: number, scope: string, date: string, more: Row = {}): Row => ({
  id: uuid(n),
  workspace_id: 'acme',
  project_id: 'Proj1',
  scope,
  date,
  category: 'content',
  text: `Note ${n}`,
  author: 'Ann',
  created_at: `${date}T09:00:00Z`,
  updated_at: `${date}T09:00:00Z`,
  ...more,
});
const group = (id: string, more: Row = {}): Row => ({
  project_id: 'Proj1',
  id,
  name: `group ${id}`,
  kind: 'manual',
  position: 1,
  ...more,
});

/**
 * A project with 341 days of pages and keywords of different sizes. Page 0 has 60 % more clicks from the day of the change
 * on, keyword 1 has 60 % fewer; notes are about both, about others, and about everything. A second project has no days.
 */
export const EFFECT_WORLD: Tables = {
  workspaces: [WORKSPACE],
  projects: [
    { ...PROJECT, synced_through: LAST, provisional_after: LAST },
    { ...PROJECT, id: 'NoDay', synced_through: LAST, provisional_after: LAST },
  ],
  keywords: [
    ...KEYWORDS.map((id, n) => keyword(id, `query ${n}`)),
    keyword('kwGon', 'archived', { archived: true }),
    ...ofProject('NoDay', [keyword('kw000', 'query')]),
  ],
  groups: [group('pairs'), group('tops', { id: 'tops1', kind: 'folder' }), group('child', { parent_id: 'tops1' })],
  group_members: [
    { project_id: 'Proj1', group_id: 'pairs', keyword_id: 'kw002' },
    { project_id: 'Proj1', group_id: 'pairs', keyword_id: 'kw003' },
    { project_id: 'Proj1', group_id: 'child', keyword_id: 'kw001' },
  ],
  page_groups: [
    {
      project_id: 'Proj1',
      id: 'ones1',
      name: 'Ones',
      position: 1,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/1' }] },
      pinned_urls: ['/0'],
    },
  ],
  site_daily: facts(
    'date device',
    ...Array.from({ length: DAYS }, (_, at) => [day(at), 'desktop', 400, 4000, 9000]),
  ).concat(ofProject('NoDay', facts('date device', [LAST, 'desktop', 1, 2, 3]))),
  page_daily: facts('date url country', ...rowsOf(pageClicks, (n) => [page(n), 'usa']), [
    '2025-11-30',
    'https://shop.example/rare',
    'usa',
    3,
    9,
    9,
  ]),
  keyword_daily: facts('date keyword_id device', ...rowsOf(keywordClicks, (n) => [KEYWORDS[n]!, 'mobile'])),
  notes: [
    note(1, 'page', CHANGE, { page: page(0) }),
    note(2, 'project', CHANGE),
    note(3, 'keyword', CHANGE, { keyword_id: 'kw001' }),
    note(4, 'page', '2025-12-10', { page: page(3) }),
    note(5, 'page', '2025-12-01', { page: page(3) }),
    note(6, 'workspace', '2025-12-05', { project_id: null }),
    note(7, 'group', '2025-10-10', { group_id: 'pairs' }),
  ],
};
