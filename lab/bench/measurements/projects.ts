import { type Bench, Client, withServer } from '../bench-context.ts';
import { prepareProjects } from '../data.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, memoryOf, type Outcome } from '../results.ts';
import { alternate } from '../rounds.ts';

/** The same requests with one project and with many, without a response cache. */
export async function measureProjects({ engine, options, report }: Bench): Promise<Outcome> {
  const { scale: count, scaleKeywords: keywords, scaleDays: days } = options;
  const fewData = await prepareProjects(engine, options, { count: 1, keywords, days }, report);
  const manyData = await prepareProjects(engine, options, { count, keywords, days }, report);
  return withServer(fewData, { cache: false }, (few) =>
    withServer(manyData, { cache: false }, async (many) => {
      const memory = new PeakMemory(many.pid);
      const clients = { few: await Client.of(few), many: await Client.of(many) };
      const lines: Outcome['lines'][number][] = [];
      const targets: Outcome['targets'][number][] = [];
      for (const endpoint of ['keywords', 'site']) {
        const path = `/projects/P0001/${endpoint}`;
        const times = await alternate(options.rounds * 20, {
          few: () => clients.few.time(path),
          many: () => clients.many.time(path),
        });
        const name = `${endpoint}, ${options.scaleKeywords} keywords, ${count} projects`;
        lines.push({ name, ...times.many, memory: memoryOf(memory), baselines: { 'one project': times.few.median } });
        targets.push(atMost(`${endpoint}: ${count} projects against one`, times.many.median / times.few.median, 1.2));
      }
      clients.few.close();
      clients.many.close();
      const startup = { median: many.startup, p95: many.startup, samples: 1 };
      lines.push({
        name: `start of the server, ${count} projects`,
        ...startup,
        baselines: { 'one project': few.startup },
      });
      return { lines, targets };
    }),
  );
}
