import { Connection } from './connection.ts';
import { inShort, type Sample, type Timing } from './rounds.ts';

/** A request of a burst. */
export interface Shot {
  readonly path: string;
  readonly key: string;
}

export interface BurstResult extends Timing {
  readonly requestsPerSecond: number;
}

/** So many connections, opened once; bursts go over all of them. */
export async function openConnections(address: URL, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(address)));
}

/** Each connection takes the next shot as soon as it has its answer. Throws for an answer other than 200. */
export async function burst(connections: readonly Connection[], shots: readonly Shot[]): Promise<BurstResult> {
  const samples: Sample[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let shot = shots[next++]; shot !== undefined; shot = shots[next++]) {
        const answer = await connection.ask(shot.path, { authorization: `Bearer ${shot.key}` });
        if (answer.status !== 200) throw new Error(`${shot.path} was answered with ${answer.status}.`);
        samples.push(answer);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { ...inShort(samples), requestsPerSecond: shots.length / seconds };
}
