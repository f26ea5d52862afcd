// The parts of a change of clicks equal those that the contract requires, for random data and random questions.
import t from 'tap';
import { Random } from '../random.ts';
import { makeWorld, type Row, type Tables } from '../world.ts';
import { asked, difference, differenceOf, rowsOf } from './ask.ts';
import { Oracle } from './oracle.ts';
import { DAY, number, text } from './oracle-terms.ts';
import { CLOCK, PATIENT, untidyWorld } from './untidy-world.ts';

/** A fixed seed gives the same worlds and questions in each run; the environment can set others, and more questions. */
const SEED = Number(process.env['ORDINATE_TEST_SEED'] ?? 1);
const QUESTIONS = 80 * Number(process.env['ORDINATE_TEST_RUNS'] ?? 1);
/** Requests per minute of the world's clock, below the rate limit of a key. */
const IN_A_MINUTE = 100;
/** Days by which worlds are moved: onto days of other counting, and over each edge of them. */
const MOVES = [0, -240, -130, 55];

/** A world with all of its days moved; months would no longer begin on their first day, nor days at the same hour. */
function moved(tables: Tables, days: number): Tables {
  if (days === 0) return tables;
  const move = (value: unknown): unknown => {
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d(T|$)/.test(value)) return value;
    return text(number(value.slice(0, 10)) + days) + value.slice(10);
  };
  const rows = (all: readonly Row[]): Row[] =>
    all.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, move(value)])));
  const { country_monthly: _months, site_hourly: _hours, ...rest } = tables;
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

/** An answer as flat rows: those it lists, then what is left out and what no row can say, so that all add up. */
function flat({ by, change, parts, rows, rest }: Explained): Row[] {
  const key = by === 'keyword' ? 'keyword_query' : by === 'brand' ? 'segment' : by;
  const hasRest = rest.rows > 0 || Object.values(rest.parts).some((part) => part !== null && part !== 0);
  const listed = [...rows, ...(hasRest ? [rest] : [])];
  const left = (of: 'now' | 'base'): number =>
    change.clicks[of]! - listed.reduce((sum, { clicks }) => sum + clicks[of]!, 0);
  const { notAttributed } = parts;
  const last = {
    clicks: { now: left('now'), base: left('base'), difference: notAttributed },
    parts: { notAttributed },
  };
  return [
    ...rows.map((row) => flattened(row)),
    ...(hasRest ? [{ ...flattened({ clicks: rest.clicks, parts: rest.parts }), [key]: '_rest' }] : []),
    { ...flattened(last), [key]: '_not_attributed' },
  ];
}

type Numbers = Readonly<Record<string, number>>;
interface Explained {
  readonly by: string;
  readonly change: { readonly clicks: Numbers };
  readonly parts: Numbers;
  readonly rows: readonly { readonly clicks: Numbers }[];
  readonly rest: { readonly rows: number; readonly clicks: Numbers; readonly parts: Numbers };
}

const flattened = (row: object): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? Object.entries(value as Row).map(([inner, cell]) => [`${name}_${inner}`, cell])
        : [[name, value]],
    ),
  );

/** Cells that are not empty. */
const filled = (rows: readonly Row[]): Row[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null && cell !== undefined)));

/** A question about a change, valid or invalid. */
function explainQuestion(dice: Random, days: number): string {
  const day = (at: number): string => text(number('2025-12-27') + days + at);
  const words: string[] = [];
  const by = dice.pick(['page', 'page', 'query', 'query', 'keyword', 'device', 'country', 'brand', null]);
  if (by !== null) words.push(`by=${by}`);
  const to = dice.whole(0, 80);
  const way = dice.pick(['none', 'period', 'from and to', 'from and to', 'to']);
  if (way === 'period') words.push(`period=${dice.pick(['1d', '3d', '7d', '28d', '1m', '40d'])}`);
  if (way !== 'none' && way !== 'period') words.push(`to=${day(to)}`);
  if (way === 'from and to') words.push(`from=${day(to - dice.whole(0, 30))}`);
  const compare = dice.pick([null, null, null, 'previous', 'year', 'days']);
  const base = dice.whole(0, 60);
  if (compare === 'days') words.push(`compare=${day(base)}..${day(base + dice.whole(0, 20))}`);
  else if (compare !== null) words.push(`compare=${compare}`);
  if (dice.once(4)) words.push(`country=${dice.pick(['usa', 'DEU', 'fra'])}`);
  if (dice.once(2)) words.push(`limit=${dice.pick(['1', '2', '5', '1000'])}`);
  if (dice.once(25))
    words.push(dice.pick(['limit=0', 'limit=1001', 'by=device', 'by=nothing', 'compare=last', 'country=us']));
  return `/projects/${dice.pick(['Full1', 'Full1', 'Full1', 'Few01', 'Fresh', 'NotYe'])}/explain?${words.join('&')}`;
}

for (const [index, days] of MOVES.entries()) {
  t.test(`parts of changes follow the contract (${index + 1} of ${MOVES.length}, seed ${SEED})`, async (t) => {
    const dice = new Random(`explain ${index} of ${SEED}`);
    const tables = withHistory(moved(untidyWorld(dice), days));
    let count = 0;
    let requests = 0;
    const clock = CLOCK + days * DAY;
    const now = (): number => clock + Math.floor(requests / IN_A_MINUTE) * 60_000;
    const { app, key } = await makeWorld(t, tables, { now, environment: PATIENT });
    const send = (path: string): ReturnType<typeof asked> => {
      requests++;
      return asked(app, path, { authorization: `Bearer ${key}` });
    };
    const oracle = new Oracle(tables, 'acme', clock);
    const answered = new Set<string>();
    const differences: { path: string; difference: unknown }[] = [];
    for (; count < QUESTIONS / MOVES.length; count++) {
      const path = explainQuestion(dice, days);
      const answer = await send(path);
      const wrong = await differenceOf(path, oracle.answer(path), answer);
      if (wrong !== undefined) differences.push({ path, difference: wrong });
      if (answer.statusCode !== 200) continue;
      answered.add(/by=(\w+)/.exec(path)?.[1] ?? 'page');
      const format = dice.pick(['ndjson', 'arrow', 'parquet']);
      const table = await send(`${path}&format=${format}`);
      const differs = difference(
        filled(await rowsOf(format, table)),
        filled(flat(JSON.parse(answer.body) as Explained)),
      );
      if (differs !== undefined) differences.push({ path: `${path}&format=${format}`, difference: differs });
    }
    const [first] = differences;
    t.strictSame(first, undefined, `${count} answers are those of the model`);
    t.strictSame(
      differences.slice(1).map(({ path }) => path),
      [],
      'no other answer differs',
    );
    t.ok(answered.size >= 3, `${[...answered].join(' ')} were answered`);
  });
}
