import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addDays } from '../../server/domain/dates.ts';
import type { Engine, Parameters } from '../../server/facts/duckdb/engine.ts';
import { ordinate, startServer } from '../server.ts';
import { PROJECT } from '../tables.ts';
import { Client } from './client.ts';
import { type Data, LAST_DAY, LIST_DAYS, type Made, type Sizes } from './data.ts';
import { alternate, timed } from './rounds.ts';

/** What all measurements need. */
export interface Bench {
  readonly sizes: Sizes;
  readonly rounds: number;
  readonly folder: string;
  readonly engine: Engine;
  readonly made: Made;
  /** The program that is measured, and the release before, if one was named. */
  readonly programs: readonly Data[];
}

/** What something took, compared with something else in the same rounds. */
export interface Line {
  readonly what: string;
  readonly ms: number;
  readonly against: string;
  /** Undefined without a release before. */
  readonly ratio: number | undefined;
  readonly atMost: number;
}

type Times<Time> = Readonly<Record<string, Time>>;
/** A request of each program, as `NAME` and `NAME before`. */
type Ask = (name: string, path: () => string) => Times<() => Promise<number>>;

/** A request may take so many times as long as in the release before: short ones, and those about many rows or days. */
const SHORT = 1.1;
const LONG = 1.3;
/** A question may take so many times as long as the report that answers the same. */
const REPORT = 1.2;

function compare(what: string, times: Times<number>, name: string, against: string, atMost: number): Line {
  const [ms, other] = [times[name]!, times[against]];
  return { what, ms, against, ratio: other === undefined ? undefined : ms / other, atMost };
}

/** Runs `work` with a server of each program. Responses are not cached: a cache hides what an answer takes. */
async function withServers(
  { programs }: Bench,
  work: (ask: Ask, client: Client) => Promise<Line[]>,
): Promise<readonly Line[]> {
  const settings = { ORDINATE_CACHE: '0MB', ORDINATE_JOBS: 'off' };
  const servers = await Promise.all(programs.map((data) => startServer({ ...data, settings })));
  const clients = servers.map(({ address }, index) => new Client(address, programs[index]!.keys));
  try {
    const ask: Ask = (name, path) =>
      Object.fromEntries(
        clients.map((client, index) => [index === 0 ? name : `${name} before`, () => client.time(path())]),
      );
    return await work(ask, clients[0]!);
  } finally {
    for (const client of clients) client.close();
    for (const server of servers) await server.stop();
  }
}

/** Totals of all keywords over all days, and over 28, against DuckDB and the floor. */
function totals(bench: Bench): Promise<readonly Line[]> {
  const { engine, made, rounds, sizes } = bench;
  return withServers(bench, async (ask, client) => {
    const path = (days: number): string => `/projects/${PROJECT}/keywords?period=${days}d&limit=5000`;
    const answer = await client.json<{ range: { from: string; to: string } }>(path(sizes.days));
    const scanned = { file: made.plain, from: answer.range.from, to: answer.range.to };
    const times = await alternate(
      { rounds, warmUp: 3 * rounds },
      {
        ...ask('all days', () => path(sizes.days)),
        ...ask('28 days', () => path(28)),
        'a scan by DuckDB': () => timed(() => runFile(engine, 'keyword_totals', scanned)),
        'the floor': floorOf(bench, answer),
      },
    );
    const name = (days: number): string => `${sizes.keywords} keywords, ${days} days`;
    return [
      compare(name(sizes.days), times, 'all days', 'a scan by DuckDB', 0.35),
      compare(name(sizes.days), times, 'all days', 'the floor', 1.6),
      compare(name(sizes.days), times, 'all days', 'all days before', LONG),
      compare(name(28), times, '28 days', 'all days', 1.2),
      compare(name(28), times, '28 days', '28 days before', SHORT),
    ];
  });
}

/** The least that totals of 28 days take: DuckDB reads two rows of each keyword, and the answer is written from memory. */
function floorOf({ engine, programs }: Bench, answer: object): () => Promise<number> {
  const reads = [LAST_DAY, addDays(LAST_DAY, -28)].map((day) => {
    const number = Number(day.slice(8));
    const folder = join(programs[0]!.dataFolder, 'facts/keyword_cumulative', PROJECT);
    return {
      files: globSync(`${folder}/${day.slice(0, 7)}-*.parquet`),
      clicks: `clicks_${number}`,
      impressions: `impressions_${number}`,
      sumPosition: `sum_position_${number}`,
    };
  });
  return () =>
    timed(async () => {
      await Promise.all(reads.map((read) => engine.numbers('facts/keyword_cumulative', read, () => {})));
      Buffer.from(JSON.stringify(answer));
    });
}

async function runFile(engine: Engine, name: string, parameters: Parameters): Promise<void> {
  using session = await engine.session();
  await session.runFile(`bench/${name}`, parameters);
}

/** The days of the property over nearly all days, another range with each request; and over 28. */
function site(bench: Bench): Promise<readonly Line[]> {
  const { rounds, sizes } = bench;
  return withServers(bench, async (ask) => {
    const path = (days: number, turn: number): string =>
      `/projects/${PROJECT}/site?from=${addDays(LAST_DAY, 1 - days + (turn % 14))}&to=${LAST_DAY}`;
    let turn = 0;
    const times = await alternate(
      { rounds: 10 * rounds, warmUp: 10 * rounds },
      { ...ask('all days', () => path(sizes.days, turn++)), ...ask('28 days', () => path(28, turn++)) },
    );
    return [
      compare(`days of the property, ${sizes.days}`, times, 'all days', 'all days before', SHORT),
      compare('days of the property, 28', times, '28 days', '28 days before', SHORT),
    ];
  });
}

/** Questions, against the reports that answer the same and the release before. */
function questions(bench: Bench): Promise<readonly Line[]> {
  const { rounds, sizes } = bench;
  const [all, list] = [`${sizes.days}d`, `${LIST_DAYS}d`];
  const pairs: readonly [
    name: string,
    bound: number,
    report: string,
    question: { period: string; dimensions: string[]; sort?: string[]; limit?: number },
  ][] = [
    ['the property, 28 days', SHORT, 'site?period=28d', { period: '28d', dimensions: ['date'] }],
    [`the property, ${sizes.days} days`, SHORT, `site?period=${all}`, { period: all, dimensions: ['date'] }],
    [
      'keywords, 28 days',
      SHORT,
      'keywords?period=28d&limit=1000',
      { period: '28d', dimensions: ['keyword'], sort: ['keyword'], limit: 1000 },
    ],
    [
      `the keywords with most clicks, ${sizes.days} days`,
      LONG,
      `keywords?period=${all}&sort=-clicks&limit=1000`,
      { period: all, dimensions: ['keyword'], limit: 1000 },
    ],
    [
      `all keywords, ${sizes.days} days`,
      LONG,
      `keywords?period=${all}&limit=5000`,
      { period: all, dimensions: ['keyword'], limit: 5000 },
    ],
    ['queries', LONG, `queries?period=${list}&limit=1000`, { period: list, dimensions: ['query'], limit: 1000 }],
    ['pages', LONG, `pages?period=${list}&limit=1000`, { period: list, dimensions: ['page'], limit: 1000 }],
  ];
  return withServers(bench, async (ask) => {
    const lines: Line[] = [];
    for (const [name, bound, report, { period, ...question }] of pairs) {
      const q = encodeURIComponent(JSON.stringify({ range: { period }, ...question }));
      const times = await alternate(
        { rounds: 3 * rounds, warmUp: rounds },
        {
          ...ask('question', () => `/projects/${PROJECT}/query?q=${q}`),
          ...ask('report', () => `/projects/${PROJECT}/${report}`),
        },
      );
      lines.push(
        compare(`question: ${name}`, times, 'question', 'report', REPORT),
        compare(`question: ${name}`, times, 'question', 'question before', bound),
        compare(`report: ${name}`, times, 'report', 'report before', bound),
      );
    }
    return lines;
  });
}

/** A load of shuffled rows into an empty folder, process start included, against DuckDB's sorted copy of them. */
async function loads({ engine, folder, made, programs, rounds }: Bench): Promise<readonly Line[]> {
  const dataFolder = join(folder, 'loaded');
  const target = join(folder, 'sorted-copy.parquet');
  const source = join(made.shuffled, 'keyword_daily.parquet');
  const contenders = programs.map(({ program }, index) => [
    index === 0 ? 'load' : 'load before',
    () => {
      rmSync(dataFolder, { recursive: true, force: true });
      return timed(() => ordinate({ program, dataFolder }, 'load', made.shuffled, '--json'));
    },
  ]);
  const times = await alternate<string>(
    { rounds: Math.min(rounds, 3), warmUp: 1 },
    {
      ...(Object.fromEntries(contenders) as Times<() => Promise<number>>),
      'a sorted copy by DuckDB': () => timed(() => runFile(engine, 'sorted_copy', { source, target })),
    },
  );
  for (const left of [dataFolder, target]) rmSync(left, { recursive: true, force: true });
  return [
    compare('load of shuffled rows', times, 'load', 'a sorted copy by DuckDB', 3),
    compare('load of shuffled rows', times, 'load', 'load before', SHORT),
  ];
}

export const MEASUREMENTS: Readonly<Record<string, (bench: Bench) => Promise<readonly Line[]>>> = {
  totals,
  site,
  questions,
  loads,
};
