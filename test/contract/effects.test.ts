// Effects equal those of docs/decisions/effects-by-placebos.md, number by number, for random sites and questions.
import t from 'tap';
import { Random } from '../random.ts';
import { makeWorld, type Row, type Tables } from '../world.ts';
import { asked, differenceOf } from './ask.ts';
import { Oracle } from './oracle.ts';
import { DAY, number, text } from './oracle-terms.ts';
import { PATIENT } from './untidy-world.ts';

/** A fixed seed gives the same worlds and questions in each run; the environment can set others, and more worlds. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const WORLDS = 3 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
const QUESTIONS = 40;

const LAST = number('2026-03-10');
const uuid = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-0000000000ab`;
/** Their order by bytes, by letters and by clicks differs. */
const PATHS = ['/B', '/a', '/é', '/Ａ', '/b', '/\u{1f40d}', '/a/1', '/Z?q=1', '/10', '/9', '/zz', '/a#x', '/C', '/0'];

interface World {
  readonly tables: Tables;
  readonly pages: readonly string[];
  readonly keywords: readonly string[];
  readonly notes: number;
  /** The day on which the clicks of some change. */
  readonly change: number;
}

/** Two projects with the same pages and keywords; their clicks, notes and groups differ. */
function effectsWorld(dice: Random): World {
  const length = dice.pick([150, 220, 300, 300]);
  const gaps = new Set(dice.once(3) ? [LAST - dice.whole(0, 250)] : []);
  const days = Array.from({ length }, (_, at) => LAST - at).filter((day) => !gaps.has(day));
  const pages = PATHS.slice(0, dice.whole(9, PATHS.length)).map((path) => `https://shop.example${path}`);
  const keywords = Array.from(
    { length: dice.whole(9, 20) },
    (_, at) => `${dice.pick(['kw', 'Kw', 'KW'])}${String(at).padStart(3, '0')}`,
  );
  const change = LAST - dice.whole(30, 60);
  const rowsOf = (project_id: string, column: string, names: readonly string[], more: Row): Row[] =>
    names.flatMap((name, at) => {
      // Some have just enough clicks to be judged, or too few; some are equal.
      const level = at < 2 ? 20 : dice.pick([0.4, 0.55, 0.55, 3, 8, 8, 20, 60]);
      const factor = [2.5, 0.3][at] ?? 1;
      const seen = dice.once(6) ? dice.whole(LAST - 150, LAST - 40) : 0;
      return days
        .filter((day) => day >= seen && !dice.once(30))
        .map((day) => {
          const mean = level * (1 + 0.3 * Math.sin(day / 20)) * (day >= change ? factor : 1);
          const clicks = Math.floor(mean * (0.6 + 0.8 * dice.next()) + dice.next());
          return {
            project_id,
            date: text(day),
            [column]: name,
            ...more,
            clicks,
            impressions: clicks * 9 + 1,
            sum_position: clicks,
          };
        });
    });
  const projects = ['Proj1', 'Proj2'];
  const notes: Row[] = Array.from({ length: 14 }, (_, at) => {
    const scope = dice.pick(['page', 'page', 'page', 'keyword', 'keyword', 'group', 'project', 'workspace']);
    const date = LAST - dice.whole(-5, 120);
    return {
      ...{
        id: uuid(at),
        workspace_id: 'acme',
        project_id: scope === 'workspace' ? null : dice.pick(['Proj1', 'Proj1', 'Proj2']),
        scope,
      },
      ...{
        date: text(date),
        end_date: dice.once(3) ? text(date + dice.whole(1, 9)) : null,
        category: 'content',
        text: `Note ${at}`,
        author: 'Ann',
      },
      ...(scope === 'page' && { page: dice.pick(pages) }),
      ...(scope === 'keyword' && { keyword_id: dice.pick(keywords.slice(1)) }),
      ...(scope === 'group' && { group_id: dice.pick(['pairs', 'tops1', 'child']) }),
      ...{ created_at: '2026-01-01T09:00:00Z', updated_at: '2026-01-01T09:00:00Z' },
    };
  });
  const group = (project_id: string, id: string, more: Row = {}): Row => ({
    project_id,
    id,
    name: `group ${id}`,
    kind: 'manual',
    position: 1,
    ...more,
  });
  const all = (rows: (project: string) => Row[]): Row[] => projects.flatMap(rows);
  return {
    pages,
    keywords,
    notes: notes.length,
    change,
    tables: {
      workspaces: [{ id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: dice.pick([486, 486, 100]) }],
      projects: projects.map((id) => ({
        ...{
          id,
          workspace_id: 'acme',
          domain: 'shop.example',
          property: 'sc-domain:shop.example',
          created_at: '2025-01-01T00:00:00Z',
        },
        ...{
          last_synced_at: `${text(LAST)}T04:05:06Z`,
          synced_through: text(LAST),
          provisional_after: text(LAST - dice.pick([0, 3])),
        },
      })),
      keywords: all((project_id) =>
        keywords.map((id, at) => ({
          project_id,
          id,
          query: `query ${(at * 11) % 23}`,
          tracked_since: '2025-01-01T00:00:00Z',
          archived: at === 0,
        })),
      ),
      groups: all((project) => [
        group(project, 'pairs'),
        group(project, 'tops1', { kind: 'folder' }),
        group(project, 'child', { parent_id: 'tops1' }),
      ]),
      group_members: projects.flatMap((project_id, at) => [
        { project_id, group_id: 'pairs', keyword_id: keywords[2 + at] },
        { project_id, group_id: 'pairs', keyword_id: keywords[4 + at] },
        { project_id, group_id: 'child', keyword_id: keywords[3 + at] },
      ]),
      page_groups: projects.map((project_id, at) => ({
        ...{ project_id, id: 'ones1', name: 'Ones', position: 1, pinned_urls: [PATHS[at]] },
        rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/a' }] },
      })),
      site_daily: all((project_id) =>
        days.map((day) => ({
          project_id,
          date: text(day),
          device: 'mobile',
          clicks: 300,
          impressions: 9000,
          sum_position: 1,
        })),
      ),
      page_daily: all((project) => rowsOf(project, 'url', pages, { country: 'usa' })),
      keyword_daily: all((project) => rowsOf(project, 'keyword_id', keywords, { device: 'mobile' })),
      notes,
    },
  };
}

function effectsQuestion(dice: Random, { pages, keywords, notes, change }: World): string {
  const words = new URLSearchParams();
  if (dice.once(3)) words.set('note', uuid(dice.whole(0, notes)));
  else {
    words.set('date', text(dice.once(2) ? change : LAST - dice.whole(-40, 110)));
    const kind = dice.pick(['page', 'page', 'pages', 'pageGroup', 'keyword', 'group']);
    if (kind.startsWith('page')) words.append('page', dice.once(2) ? pages[dice.whole(0, 1)]! : dice.pick(pages));
    if (kind === 'pages') words.append('page', dice.pick(pages));
    if (kind === 'pageGroup') {
      words.delete('page');
      words.set('pageGroup', 'ones1');
    }
    if (kind === 'keyword') words.set('keyword', dice.pick(keywords));
    if (kind === 'group')
      words.set('group', dice.pick(['pairs', 'tops1', 'child', 'child', dice.pick(['tops1', 'none1'])]));
  }
  if (dice.once(2))
    words.set('before', dice.pick(['28d', '28d', '35d', '35d', '60d', '90d', '182d', dice.pick(['27d', '183d'])]));
  if (dice.once(2)) words.set('settle', dice.pick(['0d', '0d', '1d', '1d', '14d', '28d', dice.pick(['28d', '29d'])]));
  if (dice.once(2)) words.set('after', dice.pick(['7d', '8d', '14d', '21d', '35d', '91d', dice.pick(['6d', '92d'])]));
  return `/projects/${dice.pick(['Proj1', 'Proj1', 'Proj2'])}/effects?${words.toString()}`;
}

t.test(`effects on ${WORLDS} sites follow the contract (seed ${SEED})`, async (t) => {
  const counts = new Map<string, number>();
  const note = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let index = 0; index < WORLDS; index++) {
    const dice = new Random(`world ${index} of ${SEED}`);
    const world = effectsWorld(dice);
    const clock = (LAST + 1) * DAY + DAY / 2;
    const { app, key } = await makeWorld(t, world.tables, { now: () => clock, environment: PATIENT });
    const oracle = new Oracle(world.tables, 'acme', clock);
    for (let count = 0; count < QUESTIONS; count++) {
      const path = effectsQuestion(dice, world);
      const answer = await asked(app, path, { authorization: `Bearer ${key}` });
      const differs = await differenceOf(path, oracle.answer(path), answer);
      if (differs !== undefined) t.fail(`world ${index} of seed ${SEED}: ${path}: ${JSON.stringify(differs)}`);
      const body = JSON.parse(answer.body) as unknown;
      const { verdict, reasons } = body as { verdict?: string; reasons?: string[] };
      note(verdict ?? String(answer.statusCode));
      for (const reason of reasons ?? []) note(reason);
    }
  }
  const seen = [...counts].map(([what, times]) => `${what} ${times}`).join(', ');
  const all = [
    'more',
    'fewer',
    'no_evidence',
    'too_small',
    'not_comparable',
    'interim',
    'missing_days',
    'other_note',
    'no_controls',
    'few_clicks',
  ];
  t.strictSame(
    all.filter((what) => !counts.has(what)),
    [],
    `every verdict: ${seen}`,
  );
});
