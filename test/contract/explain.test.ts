// The parts of a change of clicks equal those that the contract requires, for random data and random questions.
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { makeWorld, type Row, type Tables } from '../world.ts';
import { Oracle } from './oracle.ts';
import { DAY, type Expected, number, text } from './oracle-terms.ts';
import { CLOCK, drawNumber, randomWorld } from './random-world.ts';
import { PATIENT } from './untidy-world.ts';

/** A fixed seed gives the same worlds and questions in each run; the environment can set others, and more questions. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const QUESTIONS = 80 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
/** Requests per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;
/** Days by which worlds are moved: onto days of other counting, and over each edge of them. */
const MOVES = [0, -240, -130, 55];

/** A world with all of its days moved; months would no longer begin on their first day. */
function moved(tables: Tables, days: number): Tables {
  if (days === 0) return tables;
  const move = (value: unknown): unknown => {
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d(T|$)/.test(value)) return value;
    return text(number(value.slice(0, 10)) + days) + value.slice(10);
  };
  const rows = (all: readonly Row[]): Row[] =>
    all.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, move(value)])));
  const { country_monthly: _, ...rest } = tables;
  return Object.fromEntries(Object.entries(rest).map(([table, all]) => [table, rows(all)]));
}

/** Adds a year of days before those of a world, most of them, so that it is known what is usual. */
function withHistory(tables: Tables): Tables {
  const site = tables['site_daily']!;
  const first = Math.min(...site.map(({ date }) => number(String(date))));
  const days = Array.from({ length: 330 }, (_, at) => first - 1 - at).filter((day) => day % 97 !== 0);
  const more = ['Full1', 'Few01'].flatMap((project) =>
    days.flatMap((day) =>
      ['desktop', 'mobile'].map((device, at) => ({
        project_id: project,
        date: text(day),
        device,
        clicks: (day * 7919 + at * 31) % 53,
        impressions: 100 + (day % 41),
        sum_position: day % 300,
      })),
    ),
  );
  return { ...tables, site_daily: [...more, ...site] };
}

/** A question about a change, valid or invalid. */
function questionOf(gen: fc.GeneratorValue, days: number): string {
  const whole = (min: number, max: number): number => drawNumber(gen, min, max);
  const one = <T>(from: readonly T[]): T => from[whole(0, from.length - 1)]!;
  const day = (at: number): string => text(number('2025-12-27') + days + at);
  const words: string[] = [];
  const by = one(['page', 'page', 'query', 'query', 'keyword', 'device', 'country', 'brand', null]);
  if (by !== null) words.push(`by=${by}`);
  const to = whole(0, 80);
  const way = one(['none', 'period', 'from and to', 'from and to', 'to']);
  if (way === 'period') words.push(`period=${one(['1d', '3d', '7d', '28d', '1m', '40d'])}`);
  if (way !== 'none' && way !== 'period') words.push(`to=${day(to)}`);
  if (way === 'from and to') words.push(`from=${day(to - whole(0, 30))}`);
  const compare = one([null, null, null, 'previous', 'year', 'days']);
  const base = whole(0, 60);
  if (compare === 'days') words.push(`compare=${day(base)}..${day(base + whole(0, 20))}`);
  else if (compare !== null) words.push(`compare=${compare}`);
  if (whole(1, 4) === 1) words.push(`country=${one(['usa', 'DEU', 'fra'])}`);
  if (whole(1, 2) === 1) words.push(`limit=${one(['1', '2', '5', '1000'])}`);
  if (whole(1, 25) === 1)
    words.push(one(['limit=0', 'limit=1001', 'by=device', 'by=nothing', 'compare=last', 'country=us']));
  return `/projects/${one(['Full1', 'Full1', 'Full1', 'Few01', 'Fresh', 'NotYe'])}/explain?${words.join('&')}`;
}

/** The properties of an answer that the contract decides to the last digit. */
function decided({ status, body }: { status: number; body: unknown }): unknown {
  const { error, notes, range, source: _, unsafe: __, events: ___, ...found } = body as Record<string, Row & unknown[]>;
  const { rankingUpdates: ____, rankingUpdatesThrough: _____, ...rest } = found;
  if (error !== undefined) return { status, code: error['code'] };
  const { from, to, country, comparison } = range!;
  return {
    status,
    body: {
      ...rest,
      range: { from, to, country, comparison },
      notes: notes!.map((note: unknown) => (typeof note === 'string' ? note : (note as Row)['id'])),
    },
  };
}

for (const [index, days] of MOVES.entries()) {
  t.test(`parts of changes follow the contract (${index + 1} of ${MOVES.length}, seed ${SEED})`, async (t) => {
    const seed = SEED * MOVES.length + index;
    const [random] = fc.sample(randomWorld, { seed, numRuns: 1 });
    const tables = withHistory(moved(random!, days));
    let asked = 0;
    const clock = CLOCK + days * DAY;
    const { get } = await makeWorld(t, tables, {
      now: () => clock + Math.floor(asked / IN_A_MINUTE) * 60_000,
      environment: PATIENT,
    });
    const oracle = new Oracle(tables, 'acme', clock);
    const counts = new Map<string, number>();
    const differences: { path: string; expected: Expected; found: unknown }[] = [];
    const questions = fc.sample(
      fc.gen().map((gen) => questionOf(gen, days)),
      { seed, numRuns: Math.ceil(QUESTIONS / MOVES.length) },
    );
    for (const path of questions) {
      asked++;
      const expected = oracle.answer(path);
      const answer = await get(path);
      // As JSON, which has no -0.
      const wanted: unknown = JSON.parse(
        JSON.stringify('body' in expected ? decided(expected) : { status: expected.status, code: expected.code }),
      );
      const found = decided(answer);
      if (!isDeepStrictEqual(found, wanted)) differences.push({ path, expected: wanted as Expected, found });
      const by = /by=(\w+)/.exec(path)?.[1] ?? 'page';
      if (answer.status === 200) counts.set(by, (counts.get(by) ?? 0) + 1);
    }
    const [first] = differences;
    t.strictSame(first?.found, first?.expected, first?.path ?? `${questions.length} answers are those of the oracle`);
    t.strictSame(
      differences.slice(1).map(({ path }) => path),
      [],
      'no other answer differs',
    );
    t.ok(counts.size >= 3, `${[...counts].join(' ')} were answered`);
  });
}
