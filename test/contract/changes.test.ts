// After a change, equal questions get the new answers, and all others the same as before.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { command } from '../command.ts';
import { makeTeam } from '../dashboard/team.ts';
import { Random } from '../random.ts';
import type { Row, Tables } from '../world.ts';
import { asked, differenceOf } from './ask.ts';
import { Oracle } from './oracle.ts';
import { byText, number, text } from './oracle-terms.ts';
import { CLOCK, LAST, PATIENT, URLS, untidyWorld } from './untidy-world.ts';

type Team = Awaited<ReturnType<typeof makeTeam>>;

const day = (ago: number): string => text(LAST - ago);
const full = (rows: Row): Row => ({ project_id: 'Full1', ...rows });
const numbers = { clicks: 7, impressions: 31, sum_position: 40 };

/** Questions that are asked before and after each change. */
const QUESTIONS: readonly string[] = [
  ...['Full1', 'Twin1'].flatMap((id) =>
    [
      'site?period=2m&compare=previous&quality=1',
      'site?country=usa&interval=week',
      'site?type=discover&compare=previous',
      'site?engine=bing&period=2m',
      'hours?from=2026-03-06',
      'keywords?compare=previous',
      'keywords?group=b1b1b&daily=1&period=7d',
      'keywords?group=zzzzz&filter=clicks:gt:1&sort=-clicks&format=csv',
      'breakdowns?compare=previous',
      'breakdowns?type=image&format=ndjson',
      'pages?compare=previous',
      'pages?filter=url:contains:A&sort=-url&limit=2',
      'queries?compare=previous&limit=5',
      'queries?filter=branded:eq:true;clicks:gt:0&sort=-impressions',
      'queries?filter=tracked:eq:false&format=csv',
      'surfaces',
      'alerts?status=resolved&limit=2',
      'notes?format=csv',
      'groups',
      'page-groups',
      'explain?by=query&compare=previous',
      'explain?by=keyword',
      `effects?date=${day(20)}&page=${encodeURIComponent(URLS[0]!)}`,
      ...[
        { dimensions: ['query'], filters: [['contains', 'query', ['s']]] },
        { dimensions: ['pageGroup'], filters: [] },
        { dimensions: ['date', 'device'], filters: [] },
        { dimensions: ['group'], filters: [] },
        { dimensions: ['keyword', 'page'], filters: [], limit: 5 },
      ].map((asked) => {
        const range = { from: day(20), to: day(6) };
        return `query?q=${encodeURIComponent(JSON.stringify({ range, ...asked }))}`;
      }),
    ].map((path) => `/projects/${id}/${path}`),
  ),
  '/portfolio?compare=previous&sort=-clicks',
  ...[
    '&sort=clicks',
    '&compare=year',
    '&quality=1',
    '&device=mobile',
    '&type=image',
    '&engine=bing',
    '&filter=clicks:gt:99',
  ].map((more) => `/portfolio?period=28d${more}`),
  ...['&limit=1', '&offset=1', '&limit=1&offset=1', '&format=ndjson'].map(
    (more) => `/portfolio?sort=-impressions${more}`,
  ),
  '/portfolio?daily=1&period=7d&format=csv',
  '/portfolio?daily=1&interval=week',
  '/projects',
];

interface Change {
  readonly says: string;
  /** What is loaded. */
  readonly load?: (tables: Tables) => Tables;
  /** Another way of changing, and the tables that it leaves. */
  readonly make?: (team: Team, tables: Tables) => Promise<void>;
  readonly leaves?: (tables: Tables) => Tables;
  /** A question whose answer must change, and one whose answer must not. */
  readonly changes: RegExp;
  readonly keeps: RegExp;
}

const of = (tables: Tables, table: string, project = 'Full1'): Row[] =>
  tables[table]!.filter((row) => row['project_id'] === project);
const about = (tables: Tables, id: string): Row => tables['projects']!.find((row) => row['id'] === id)!;
const rule = { match: 'all', conditions: [{ field: 'query', op: 'contains', value: 'ACME' }] };
const ruleGroup = (tables: Tables): Row => of(tables, 'groups').find((row) => row['id'] === 'b1b1b')!;
const textOf = ({ query }: Row): string => String(query).toLowerCase();
/** A tracked keyword whose text no other has, in any case. */
const tracked = (tables: Tables): Row =>
  of(tables, 'keywords').find(
    (row, _, all) => row['archived'] !== true && all.filter((one) => textOf(one) === textOf(row)).length === 1,
  )!;

const CHANGES: readonly Change[] = [
  {
    says: 'days of queries are loaded again, with other rows',
    load: () => ({ query_daily: [full({ date: day(5), query: 'ACME', country: 'usa', ...numbers })] }),
    changes: /Full1.queries.compare/,
    keeps: /Full1.pages/,
  },
  {
    says: 'days of the property are loaded',
    load: () => ({
      site_daily_discover: [full({ date: day(10), device: 'unknown', ...numbers, sum_position: 0 })],
      site_hourly: [full({ date: day(3), hour: `${day(3)}T20:00:00Z`, ...numbers })],
      site_daily: [
        full({ date: day(0), device: 'tablet', ...numbers }),
        full({ date: day(1), device: 'mobile', ...numbers }),
      ],
    }),
    changes: /Full1.(site.period|site.type|hours)/,
    keeps: /Twin1.site/,
  },
  {
    says: 'days of Bing are loaded',
    load: () => ({ site_daily_bing: [full({ date: day(7), device: 'unknown', ...numbers, sum_position: 0 })] }),
    changes: /Full1.site.engine|portfolio.*engine/,
    keeps: /Full1.site.(period|country)/,
  },
  {
    says: 'days of keywords are loaded',
    load: (tables) => ({
      keyword_daily: [full({ date: day(2), keyword_id: tracked(tables)['id'], device: 'desktop', ...numbers })],
    }),
    changes: /Full1.keywords.compare/,
    keeps: /Full1.breakdowns/,
  },
  {
    says: 'days of another project with equal names are loaded',
    load: (tables) => ({
      page_daily: of(tables, 'page_daily', 'Twin1')
        .filter(({ date }) => date === day(1))
        .map((row) => ({ ...row, clicks: 5, impressions: 60 })),
    }),
    changes: /Twin1.pages.compare/,
    keeps: /Full1.pages/,
  },
  {
    says: 'brand terms change',
    load: (tables) => ({ projects: [{ ...about(tables, 'Full1'), brand_terms: ['boots', 'привет'] }] }),
    changes: /Full1.queries.*branded/,
    keeps: /Twin1.queries.*branded/,
  },
  {
    says: 'a member changes the rule of a group',
    make: async (team) => {
      const { status, message } = await team.send('owner', 'PATCH', '/projects/Full1/groups/b1b1b', { rule });
      if (status !== 200) throw new Error(message);
    },
    leaves: (tables) => upserted(tables, { groups: [{ ...ruleGroup(tables), rule }] }),
    changes: /Full1.keywords.group=b1b1b/,
    keeps: /Twin1.keywords.group=b1b1b/,
  },
  {
    says: 'a member archives a keyword',
    make: async (team, tables) => {
      const path = `/projects/Full1/keywords/${String(tracked(tables)['id'])}`;
      const { status, message } = await team.send('owner', 'PATCH', path, { archived: true });
      if (status !== 200) throw new Error(message);
    },
    leaves: (tables) => upserted(tables, { keywords: [{ ...tracked(tables), archived: true }] }),
    changes: /Full1.queries.*tracked/,
    keeps: /Twin1.queries.*tracked/,
  },
  {
    says: 'a group, a note and an alert are loaded again',
    load: (tables) => ({
      page_groups: [{ ...of(tables, 'page_groups')[0], name: 'another', position: 9 }],
      notes: [{ ...of(tables, 'notes')[0], text: 'another' }],
      alerts: of(tables, 'alerts').map((row) => ({ ...row, resolved_at: '2026-03-12T00:00:00Z' })),
    }),
    changes: /Full1.(alerts|notes|page-groups)/,
    keeps: /Twin1.alerts/,
  },
  {
    says: 'the project is synced to an earlier day',
    load: (tables) => ({
      projects: [{ ...about(tables, 'Full1'), synced_through: day(4), provisional_after: day(6) }],
    }),
    changes: /Full1.site/,
    keeps: /Twin1.site/,
  },
  {
    says: 'the plan keeps fewer days of keywords',
    load: (tables) => ({
      workspaces: tables['workspaces']!.filter(({ id }) => id === 'acme').map((row) => ({
        ...row,
        keyword_history_days: 12,
      })),
    }),
    changes: /Twin1.keywords.compare|.projects$/,
    keeps: /Twin1.site/,
  },
  {
    says: 'old days are pruned',
    make: async ({ dataFolder }) => {
      const { now } = Date;
      Date.now = () => CLOCK;
      try {
        for (const words of [['workspaces', 'set', 'acme', '--keep-days', '30'], ['prune']]) {
          const { code, stderr } = await command({ ORDINATE_DATA: dataFolder }, ...words);
          if (code !== 0) throw new Error(stderr);
        }
      } finally {
        Date.now = now;
      }
    },
    leaves: (tables) =>
      Object.fromEntries(
        Object.entries(tables).map(([table, rows]) => {
          const column = table === 'country_monthly' ? 'month' : 'date';
          const isFact = /_(daily|hourly|monthly)/.test(table);
          return [table, rows.filter((row) => !isFact || String(row[column]) >= '2026-02-01')];
        }),
      ),
    changes: /Full1.site.period/,
    keeps: /Twin1.(alerts|hours)/,
  },
  {
    says: 'a project is hidden again',
    load: (tables) => ({ projects: [{ ...about(tables, 'Twin1'), setup_finished: false }] }),
    changes: /portfolio|Twin1/,
    keeps: /Full1.site/,
  },
];

const KEYS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['workspaces', 'projects', 'alerts', 'notes'].map((table) => [table, ['id']])),
  ...Object.fromEntries(['keywords', 'groups', 'page_groups'].map((table) => [table, ['project_id', 'id']])),
};

/** Entities replace those with the same key; facts replace the days from their first to their last one. */
function upserted(tables: Tables, more: Tables): Tables {
  const changed = Object.entries(more).map(([table, rows]): [string, Row[]] => {
    const key = KEYS[table];
    const keyOf = (row: Row): string => JSON.stringify(key!.map((name) => row[name]));
    const isKept = (row: Row): boolean => {
      if (key !== undefined) return !rows.some((one) => keyOf(one) === keyOf(row));
      const days = rows.filter((one) => one['project_id'] === row['project_id']).map(({ date }) => String(date));
      const [first, last] = [days.toSorted(byText)[0], days.toSorted(byText).at(-1)];
      return (
        first === undefined ||
        number(String(row['date'])) < number(first) ||
        number(String(row['date'])) > number(last!)
      );
    };
    return [table, [...tables[table]!.filter(isKept), ...rows]];
  });
  return { ...tables, ...Object.fromEntries(changed) };
}

t.test('each change reaches the answers that depend on it, and no other', async (t) => {
  let tables = untidyWorld(new Random(`changes ${process.env['ORDINATE_TEST_SEED'] ?? 1}`));
  const team = await makeTeam(t, tables, PATIENT);
  const headers = { authorization: `Bearer ${team.key}` };
  /** The right answers, and questions with another one. */
  const answers = async () => {
    const oracle = new Oracle(tables, 'acme', CLOCK);
    const right = QUESTIONS.map((path) => oracle.answer(path));
    const wrong: unknown[] = [];
    for (const [at, path] of QUESTIONS.entries()) {
      team.clock.at += 1000;
      const differs = await differenceOf(path, right[at]!, await asked(team.app, path, headers));
      if (differs !== undefined) wrong.push({ path, differs });
    }
    return { right, wrong };
  };
  let before = await answers();
  t.strictSame(before.wrong, [], 'before');
  for (const { says, load, make, leaves, changes, keeps } of CHANGES) {
    const more = load?.(tables);
    if (more !== undefined) await team.load(more);
    else await make!(team, tables);
    tables = more === undefined ? leaves!(tables) : upserted(tables, more);
    const after = await answers();
    const are = (pattern: RegExp, isSame: boolean): boolean =>
      QUESTIONS.some(
        (path, at) => pattern.test(path) && isDeepStrictEqual(before.right[at], after.right[at]) === isSame,
      );
    t.strictSame(after.wrong, [], says);
    t.strictSame([are(changes, false), are(keeps, true)], [true, true], `${says}: an answer changes, and one stays`);
    before = after;
  }
});
