import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, Client, withServer } from '../bench-context.ts';
import { PeakMemory } from '../memory.ts';
import { atMost, type Outcome } from '../results.ts';
import { LARGE, small } from '../snapshots.ts';

/** The memory of a server that nobody has asked anything, and after many questions of all kinds, none asked twice. */
export async function measureResident({ data, options }: Bench): Promise<Outcome> {
  return withServer(data, { cache: true }, async (server) => {
    await sleep(1000 * options.idle);
    const idle = new PeakMemory(server.pid).look().peak;
    const client = await Client.of(server);
    const { questions } = options;
    for (let index = 0; index < questions; index++) await client.read(questionOf(index));
    client.close();
    const after = new PeakMemory(server.pid).look().peak;
    return {
      lines: [],
      targets: [
        atMost('resident memory of an idle server', idle, 160, 'MB'),
        atMost(`resident memory after ${questions.toLocaleString('en')} questions`, after, 300, 'MB'),
      ],
    };
  });
}

function questionOf(index: number): string {
  const project = index % 3 === 0 ? LARGE : small(1);
  const period = `period=${1 + (Math.floor(index / 15) % 480)}d`;
  const paths = [
    `site?${period}&compare=previous`,
    `keywords?${period}&limit=50&offset=${index % 7}`,
    `breakdowns?${period}`,
    `site?${period}&device=mobile`,
    `keywords?${period}&sort=-clicks&limit=${1 + Math.floor(index / 7200)}`,
  ];
  return `/projects/${project}/${paths[index % paths.length]}`;
}
