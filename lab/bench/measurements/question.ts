import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE } from '../snapshots.ts';

/** A question may cost so many times as much as the report that answers it too. */
const MAX_RATIO = 1.2;

/** Questions against the reports that answer the same, without a response cache. */
export async function measureQuestion({ data, options }: Bench): Promise<Outcome> {
  const { days, listDays } = options;
  const pairs: readonly (readonly [name: string, report: string, question: object])[] = [
    ['site, 28 days', 'site?period=28d', { range: { period: '28d' }, dimensions: ['date'] }],
    [`site, ${days} days`, `site?period=${days}d`, { range: { period: `${days}d` }, dimensions: ['date'] }],
    [
      'keywords, 28 days',
      'keywords?period=28d&limit=1000',
      { range: { period: '28d' }, dimensions: ['keyword'], limit: 1000 },
    ],
    [
      `keywords, ${days} days`,
      `keywords?period=${days}d&limit=1000`,
      { range: { period: `${days}d` }, dimensions: ['keyword'], limit: 1000 },
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
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const memory = new PeakMemory(server.pid);
    const outcomes: Outcome[] = [];
    for (const [name, path, question] of pairs) {
      const report = `/projects/${LARGE}/${path}`;
      const asked = `/projects/${LARGE}/query?q=${encodeURIComponent(JSON.stringify(question))}`;
      for (let time = 0; time < options.rounds; time++) {
        await client.time(report);
        await client.time(asked);
      }
      const times = await alternate(options.rounds * 3, {
        report: () => client.time(report),
        question: () => client.time(asked),
      });
      outcomes.push({
        lines: [{ name: `question: ${name}`, ...times.question, baselines: { report: times.report.median } }],
        targets: [
          atMost(`question: ${name}, against the report`, times.question.median / times.report.median, MAX_RATIO),
        ],
      });
    }
    client.close();
    const [first, ...rest] = outcomes.flatMap(({ lines }) => lines);
    return {
      lines: [{ ...first!, memory: memoryOf(memory) }, ...rest],
      targets: outcomes.flatMap(({ targets }) => targets),
    };
  });
}
