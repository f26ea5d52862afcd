// Days, weeks and months of whole months are compared with those of the months in the same place, in every series.
import t, { type Test } from 'tap';
import { dashboardOf } from '../dashboard/dashboard-of.ts';
import { parseNdjson, readArrow } from '../formats/read.ts';
import { facts, keyword, makeWorld, NOW, type Row, type World } from '../world.ts';
import { addUp, comparedOf, eachDay, metricsOf } from './comparison-oracle.ts';

const DAYS = eachDay({ from: '2025-01-01', to: '2026-03-10' });
/** Numbers that tell days apart. */
const measures = (day: number, of: number): number[] => [20 + ((day * 7 + of) % 31), 400 + day * 3 + of, 5000 + day];
const site_daily = facts(
  'date device',
  ...DAYS.flatMap((date, day) => ['desktop', 'mobile'].map((device, of) => [date, device, ...measures(day, of)])),
);
const keyword_daily = facts(
  'keyword_id date device',
  ...['Kw001', 'Kw002'].flatMap((id, of) => DAYS.map((date, day) => [id, date, 'mobile', ...measures(day, of + 5)])),
);
const page_daily = facts(
  'date url country',
  ...DAYS.map((date, day) => [date, 'https://shop.example/a', 'gbr', ...measures(day, 9)]),
);

let time = NOW;
const world = await makeWorld(
  t,
  { site_daily, keyword_daily, page_daily, keywords: [keyword('Kw001', 'red shoes'), keyword('Kw002', 'boots')] },
  { now: () => time },
);
const ask: World['ask'] = (path) => {
  time += 1000;
  return world.ask(path);
};

const inFormat = async (path: string) => {
  time += 1000;
  const headers = { authorization: `Bearer ${world.key}` };
  return (await world.served()).inject({ url: `/api/v1/projects/Proj1${path}`, headers });
};

interface Days {
  readonly from: string;
  readonly to: string;
}
interface Case {
  readonly now: Days;
  readonly compare: string;
  readonly base: Days;
  /** Whether both are whole months. */
  readonly isOfMonths: boolean;
}

const CASES: readonly Case[] = [
  {
    // No day of the week from February 24 is compared with January 29 to 31.
    now: { from: '2025-02-01', to: '2025-03-31' },
    compare: '2025-01-01..2025-02-28',
    base: { from: '2025-01-01', to: '2025-02-28' },
    isOfMonths: true,
  },
  {
    now: { from: '2026-01-01', to: '2026-02-28' },
    compare: 'previous',
    base: { from: '2025-11-01', to: '2025-12-31' },
    isOfMonths: true,
  },
  {
    now: { from: '2025-12-01', to: '2025-12-31' },
    compare: 'previous',
    base: { from: '2025-11-01', to: '2025-11-30' },
    isOfMonths: true,
  },
  {
    now: { from: '2026-01-01', to: '2026-02-28' },
    compare: '2025-11-01..2025-11-30',
    base: { from: '2025-11-01', to: '2025-11-30' },
    isOfMonths: true,
  },
  {
    now: { from: '2026-02-01', to: '2026-02-20' },
    compare: '2026-01-05..2026-01-15',
    base: { from: '2026-01-05', to: '2026-01-15' },
    isOfMonths: false,
  },
];

const monthOf = (day: string): string => day.slice(0, 7);
const mondayOf = (day: string): string => {
  const at = new Date(day);
  return new Date(at.getTime() - ((at.getUTCDay() + 6) % 7) * 86_400_000).toISOString().slice(0, 10);
};
const PARTS: Readonly<Record<string, (day: string) => string>> = { day: (day) => day, week: mondayOf, month: monthOf };

/** The parts of a range with their days and the days that they are compared with. */
function partsOf({ now, base, isOfMonths }: Case, interval: string): { days: string[]; others: string[] }[] {
  const monthsOf = (range: Days): string[] => [...new Set(eachDay(range).map(monthOf))];
  const [here, there] = [monthsOf(now), monthsOf(base)];
  const otherOf = (day: string, place: number): string | undefined => {
    const other = isOfMonths ? there[here.indexOf(monthOf(day))] + day.slice(7) : eachDay(base)[place];
    return eachDay(base).find((one) => one === other);
  };
  const parts = new Map<string, { days: string[]; others: string[] }>();
  for (const [place, day] of eachDay(now).entries()) {
    const name = PARTS[interval]!(day);
    const part = parts.get(name) ?? { days: [], others: [] };
    parts.set(name, part);
    part.days.push(day);
    const other = otherOf(day, place);
    if (other !== undefined) part.others.push(other);
  }
  if (isOfMonths && interval === 'month') {
    for (const [at, part] of [...parts.values()].entries()) {
      part.others = eachDay(base).filter((day) => monthOf(day) === there[at]);
    }
  }
  return [...parts.values()];
}

/** What the rows of a series must be, of the rows of a table. */
function expectedRows(rows: readonly Row[], one: Case, interval: string): Row[] {
  return partsOf(one, interval).map(({ days, others }): Row => {
    const of = (wanted: readonly string[]) => addUp(rows.filter(({ date }) => wanted.includes(String(date))));
    const reasons = () => (days.length === others.length ? [] : ['different_length']);
    const beside = comparedOf({ now: of(days), base: of(others), reasons });
    return {
      date: days[0]!,
      ...(interval === 'day' ? {} : { days: days.length }),
      ...metricsOf(of(days)),
      ...(others.length === 0 ? NOTHING_BESIDE : beside),
    };
  });
}

const METRICS = ['clicks', 'impressions', 'ctr', 'position'];
const NOTHING_BESIDE = {
  comparison: null,
  change: null,
  unsafe: Object.fromEntries(METRICS.map((name) => [name, ['missing_days']])),
};

async function eachCase(check: (one: Case, query: string, interval: string) => Promise<void>): Promise<void> {
  for (const one of CASES) {
    const { now, compare } = one;
    for (const interval of Object.keys(PARTS)) {
      await check(one, `from=${now.from}&to=${now.to}&compare=${compare}&interval=${interval}`, interval);
    }
  }
}

t.test('the site, by day, week and month; months add up to the totals', async (t) => {
  await eachCase(async (one, query, interval) => {
    const { body } = await ask(`/site?${query}`);
    t.strictSame(body.daily, expectedRows(site_daily, one, interval), query);
    const sums = ({ from, to }: Days) => addUp(site_daily.filter(({ date }) => from <= date! && date! <= to));
    t.strictSame(body.totals.comparison, metricsOf(sums(one.base)), `${query}: totals have all days`);
    if (!one.isOfMonths || interval !== 'month') return;
    const clicks = (body.daily as { comparison: Row | null }[]).map(({ comparison }) => comparison?.['clicks'] ?? 0);
    t.equal(
      clicks.reduce((sum: number, one) => sum + Number(one), 0),
      body.totals.comparison.clicks,
      query,
    );
  });
});

t.test('a portfolio has the days of its sites', async (t) => {
  await eachCase(async (_, query) => {
    const site = await ask(`/site?${query}`);
    const { body } = await world.get(`/portfolio?${query}&daily=1`);
    t.strictSame(body.projects[0].daily, site.body.daily, query);
  });
});

t.test('keywords, by day, week and month', async (t) => {
  await eachCase(async (one, query, interval) => {
    const { body } = await ask(`/keywords?${query}&daily=1`);
    t.equal(body.keywords.length, 2);
    for (const { id, daily } of body.keywords) {
      const rows = keyword_daily.filter(({ keyword_id }) => keyword_id === id);
      t.strictSame(daily, expectedRows(rows, one, interval), `${id} ${query}`);
    }
  });
});

t.test('a question by time has the rows of the site', async (t) => {
  await eachCase(async ({ now, base }, query, interval) => {
    const name = interval === 'day' ? 'date' : interval;
    const question = JSON.stringify({ range: now, dimensions: [name], compare: base });
    const { body } = await ask(`/query?q=${encodeURIComponent(question)}`);
    const { daily } = (await ask(`/site?${query}`)).body;
    t.strictSame(
      body.rows,
      daily.map(({ date, ...row }: Row) => ({ [name]: date, ...row })),
      query,
    );
  });
});

/** A row as flat formats have it. */
function flat({ comparison, change, unsafe, ...row }: Row): Row {
  const of = (object: unknown, name: string): unknown => (object as Record<string, unknown> | null)?.[name] ?? null;
  const columns = (prefix: string, value: (name: string) => unknown) =>
    Object.fromEntries(METRICS.map((name) => [`${prefix}_${name}`, value(name)]));
  return {
    ...row,
    ...columns('comparison', (name) => of(comparison, name)),
    ...columns('change', (name) => of(of(change, name), 'difference')),
    ...columns('changeRatio', (name) => of(of(change, name), 'ratio')),
    ...columns('unsafe', (name) => of(unsafe, name) ?? []),
  } as Row;
}

const known = (row: Row, names: readonly string[]): Row => Object.fromEntries(names.map((name) => [name, row[name]!]));

t.test('flat formats have empty cells where a day has no counterpart', async (t) => {
  const check = async (t: Test, path: string, expected: readonly Row[]): Promise<void> => {
    const [name, query] = path.split('?');
    const names = Object.keys(expected[0]!);
    const lines = parseNdjson((await inFormat(`${name}.ndjson?${query}`)).body);
    t.strictSame(
      lines.map((row) => known(row, names)),
      expected,
      path,
    );
    const { rows } = readArrow((await inFormat(`${name}.arrow?${query}`)).rawPayload);
    for (const [at, row] of rows.entries()) {
      const isAlone = expected[at]!['comparison_clicks'] === null;
      t.equal(row['comparison_sum_position'] === null, isAlone, `${path} ${at}`);
    }
  };
  const { now, compare } = CASES[2]!;
  const query = `from=${now.from}&to=${now.to}&compare=${compare}`;
  const site = (await ask(`/site?${query}`)).body;
  t.equal(site.daily[30].comparison, null, 'December 31');
  await check(t, `/site?${query}`, site.daily.map(flat));
  const { keywords } = (await ask(`/keywords?${query}&daily=1`)).body;
  const days = keywords.flatMap(({ id, daily }: { id: string; daily: Row[] }) =>
    daily.map((row) => ({ id, ...flat(row) })),
  );
  await check(t, `/keywords?${query}&daily=1`, days);
  const question = JSON.stringify({ range: now, dimensions: ['date'], compare });
  const { rows } = (await ask(`/query?q=${encodeURIComponent(question)}`)).body;
  await check(t, `/query?q=${encodeURIComponent(question)}`, rows.map(flat));
});

t.test("lines of the dashboard's charts: a page, and one more line", async (t) => {
  const dashboard = await dashboardOf(world);
  const page = encodeURIComponent('https://shop.example/a');
  await eachCase(async (one, query, interval) => {
    // Points by the days that they stand beside, where there are any.
    const expected = expectedRows(page_daily, one, interval).flatMap(({ date, comparison }) =>
      comparison === null ? [] : [{ date, ...(comparison as unknown as Row) }],
    );
    for (const path of [`days-of-page?page=${page}`, `line?of=page&text=${page}`]) {
      const { body } = await dashboard(`Proj1/${path}&${query}`);
      t.strictSame(body.comparison, expected, `${path} ${query}`);
    }
  });
});
