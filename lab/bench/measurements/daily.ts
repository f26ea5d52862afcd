import { answerBaselines, timeQuery, timeRows } from '../baselines.ts';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE, MIDDLE } from '../snapshots.ts';

interface DailyAnswer {
  readonly range: { readonly from: string; readonly to: string };
  readonly keywords: readonly { readonly id: string }[];
}

/** Every day of as many keywords as the middle project has: from that project, and from a page of the large one. */
export async function measureDaily(bench: Bench): Promise<Outcome> {
  const outcomes = [await daysOf(bench, MIDDLE), await daysOf(bench, LARGE)];
  return {
    lines: outcomes.flatMap(({ lines }) => lines),
    targets: outcomes.flatMap(({ targets }) => targets),
  };
}

async function daysOf({ data, engine, options }: Bench, project: typeof LARGE | typeof MIDDLE): Promise<Outcome> {
  return withServer(data, { cache: false }, async (server) => {
    const client = await Client.of(server);
    const limit = Math.min(options.middleKeywords, 5000);
    const path = `/projects/${project}/keywords?daily=1&period=${options.days}d&limit=${limit}`;
    // A small request first: memory that any answer needs does not count as growth.
    await client.read(`/projects/${project}/keywords?limit=10`);
    const memory = new PeakMemory(server.pid);
    const body = await client.read(path);
    const answer = JSON.parse(body.toString()) as DailyAnswer;
    const { from, to } = answer.range;
    const keywords = answer.keywords.map(({ id }) => id);
    const parameters = { file: data.plain(project), from, to, keywords };
    const baselines = await answerBaselines(options.folder, body, answer);
    const { server: served, ...rest } = await alternate(Math.min(options.rounds, 7), {
      server: () => client.time(path),
      duckdb: () => timeQuery(engine, 'keyword_days', parameters),
      'duckdb rows': () => timeRows(engine, 'keyword_days', parameters),
      stringify: baselines.stringify,
      bare: baselines.bare,
    });
    await baselines.close();
    client.close();

    const used = memoryOf(memory);
    const where = `daily, ${project === LARGE ? 'of the large project' : 'of the middle project'}`;
    return {
      lines: [
        {
          name: `keywords?daily=1, ${keywords.length} of ${project === LARGE ? options.keywords : limit} keywords`,
          ...served,
          memory: used,
          baselines: Object.fromEntries(Object.entries(rest).map(([name, { median }]) => [name, median])),
        },
      ],
      targets: [
        atMost(
          `${where}: against the raw DuckDB query, its rows read`,
          served.median / rest['duckdb rows'].median,
          2.5,
        ),
        atMost(`${where}: against the raw DuckDB query, nothing read`, served.median / rest.duckdb.median, 2.5),
        atMost(`${where}: growth of memory`, used.growth, 150, 'MB'),
        atMost(`${where}: first byte`, (served.firstByte ?? Number.NaN) / served.median, 0.25, 'of the time'),
      ],
    };
  });
}
