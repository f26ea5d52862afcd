import { globSync, rmSync } from 'node:fs';
import { addDays } from '../../../server/domain/dates.ts';
import type { Range } from '../../../server/domain/range.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE, LAST_DAY } from '../snapshots.ts';

/** A question may cost so many times as much as the report that answers it too. */
const MAX_RATIO = 1.2;

type Pair = readonly [name: string, report: string, question: object];

/** Questions against the reports that answer the same: without the response cache, which hides what an answer takes, and with it. */
export async function measureQuestion({ data, options }: Bench): Promise<Outcome> {
  const { days, listDays } = options;
  const keywords = Math.min(options.keywords, 5000);
  const pairs: readonly Pair[] = [
    ['site, 28 days', 'site?period=28d', { range: { period: '28d' }, dimensions: ['date'] }],
    [`site, ${days} days`, `site?period=${days}d`, { range: { period: `${days}d` }, dimensions: ['date'] }],
    [
      'keywords, 28 days',
      'keywords?period=28d&limit=1000',
      { range: { period: '28d' }, dimensions: ['keyword'], sort: ['keyword'], limit: 1000 },
    ],
    ...[1000, 100].map(
      (limit): Pair => [
        `the ${limit} keywords with most clicks, ${days} days`,
        `keywords?period=${days}d&sort=-clicks&limit=${limit}`,
        { range: { period: `${days}d` }, dimensions: ['keyword'], limit },
      ],
    ),
    [
      `1000 keywords, ${days} days, which only the question sorts`,
      `keywords?period=${days}d&limit=1000`,
      { range: { period: `${days}d` }, dimensions: ['keyword'], limit: 1000 },
    ],
    [
      `all keywords, ${days} days`,
      `keywords?period=${days}d&limit=${keywords}`,
      { range: { period: `${days}d` }, dimensions: ['keyword'], limit: keywords },
    ],
    [
      `queries, ${listDays} days`,
      `queries?period=${listDays}d&limit=1000`,
      { range: { period: `${listDays}d` }, dimensions: ['query'], limit: 1000 },
    ],
    [
      `pages, ${listDays} days`,
      `pages?period=${listDays}d&limit=1000`,
      { range: { period: `${listDays}d` }, dimensions: ['page'], limit: 1000 },
    ],
  ];
  // Lists of earlier runs would be read, not made.
  for (const file of globSync(`${data.folder}/lists/*.parquet`)) rmSync(file);
  const alone = await withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const memory = new PeakMemory(server.pid);
    const outcomes = await compareEach(client, pairs, options.rounds, '');
    // The report of a list makes it when it is first asked, and reads it from then on.
    const ranges = rangesOf(listDays).slice(0, options.rounds * 3);
    for (const [path, dimension] of [
      ['queries', 'query'],
      ['pages', 'page'],
    ] as const) {
      const [first, second] = [ranges.values(), ranges.values()];
      const times = await alternate(
        ranges.length,
        {
          report: () => {
            const { from, to } = first.next().value!;
            return client.time(`/projects/${LARGE}/${path}?from=${from}&to=${to}&limit=1000`);
          },
          question: () => client.time(addressOf({ range: second.next().value!, dimensions: [dimension], limit: 1000 })),
        },
        0,
      );
      outcomes.push(compared(`${path}, of days not asked before`, times));
    }
    client.close();
    const [first, ...rest] = outcomes;
    return [{ ...first!, lines: first!.lines.map((line) => ({ ...line, memory: memoryOf(memory) })) }, ...rest];
  });
  const cached = await withServer(data, { cache: true }, async (server) => {
    const client = await Client.of(server);
    const outcomes = await compareEach(client, pairs, options.rounds, ', cached');
    client.close();
    return outcomes;
  });
  const all = [...alone, ...cached];
  return { lines: all.flatMap(({ lines }) => lines), targets: all.flatMap(({ targets }) => targets) };
}

async function compareEach(client: Client, pairs: readonly Pair[], rounds: number, suffix: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [name, path, question] of pairs) {
    const report = `/projects/${LARGE}/${path}`;
    const asked = addressOf(question);
    for (let time = 0; time < rounds; time++) {
      await client.time(report);
      await client.time(asked);
    }
    const times = await alternate(rounds * 3, {
      report: () => client.time(report),
      question: () => client.time(asked),
    });
    outcomes.push(compared(name + suffix, times));
  }
  return outcomes;
}

function compared(name: string, { report, question }: Awaited<ReturnType<typeof alternate<'report' | 'question'>>>) {
  return {
    lines: [{ name: `question: ${name}`, ...question, baselines: { report: report.median } }],
    targets: [atMost(`question: ${name}, against the report`, question.median / report.median, MAX_RATIO)],
  };
}

const addressOf = (question: object): string =>
  `/projects/${LARGE}/query?q=${encodeURIComponent(JSON.stringify(question))}`;

/** All ranges of the last days, the longest first. */
function rangesOf(days: number): Range[] {
  return Array.from({ length: days }, (_, shorter) =>
    Array.from({ length: shorter + 1 }, (_, at) => ({
      from: addDays(LAST_DAY, at - days + 1),
      to: addDays(LAST_DAY, at - shorter),
    })),
  ).flat();
}
