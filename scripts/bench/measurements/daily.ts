import { type Bench, Client, withServer } from '../bench-context.ts';
import { answerFloors, timeQuery, timeRows } from '../floors.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';
import { LARGE, MIDDLE } from '../snapshots.ts';

interface DailyAnswer {
  readonly range: { readonly from: string; readonly to: string };
  readonly keywords: readonly { readonly id: string }[];
}

/** Every day of as many keywords as the middle project has: of that project, and of a page of the large one. */
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
    // A small request first: what any answer needs is not growth.
    await client.read(`/projects/${project}/keywords?limit=10`);
    const memory = new PeakMemory(server.pid);
    const body = await client.read(path);
    const answer = JSON.parse(body.toString()) as DailyAnswer;
    const { from, to } = answer.range;
    const keywords = answer.keywords.map(({ id }) => id);
    const question = { file: data.plain(project), from, to, keywords };
    const floors = await answerFloors(options.folder, body, answer);
    const { server: asked, ...rest } = await alternate(Math.min(options.rounds, 7), {
      server: () => client.time(path),
      duckdb: () => timeQuery(engine, 'keyword_days', question),
      'duckdb rows': () => timeRows(engine, 'keyword_days', question),
      stringify: floors.stringify,
      bare: floors.bare,
    });
    await floors.close();
    client.close();

    const used = memoryOf(memory);
    const where = `daily, ${project === LARGE ? 'of the large project' : 'a project of its own'}`;
    return {
      lines: [
        {
          name: `keywords?daily=1, ${keywords.length} of ${project === LARGE ? options.keywords : limit} keywords`,
          ...asked,
          memory: used,
          floors: Object.fromEntries(Object.entries(rest).map(([name, { median }]) => [name, median])),
        },
      ],
      targets: [
        atMost(`${where}: against the raw DuckDB query, its rows read`, asked.median / rest['duckdb rows'].median, 2.5),
        atMost(`${where}: against the raw DuckDB query, nothing read`, asked.median / rest.duckdb.median, 2.5),
        atMost(`${where}: growth of memory`, used.growth, 150, 'MB'),
        atMost(`${where}: first byte`, (asked.firstByte ?? Number.NaN) / asked.median, 0.25, 'of the time'),
      ],
    };
  });
}
