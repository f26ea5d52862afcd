import { Connection } from './connection.ts';
import { type Sample, summarise, type Timing } from './rounds.ts';

/** A request of a burst. */
export interface BurstRequest {
  readonly path: string;
  readonly key: string;
}

export interface BurstResult extends Timing {
  readonly requestsPerSecond: number;
}

/** Opens the connections that bursts use. */
export async function openConnections(address: URL, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => Connection.open(address)));
}

/** Sends requests: each connection takes the next one as soon as it has an answer. Throws if a status is not 200. */
export async function burst(
  connections: readonly Connection[],
  requests: readonly BurstRequest[],
): Promise<BurstResult> {
  const samples: Sample[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const answer = await connection.get(request.path, { authorization: `Bearer ${request.key}` });
        if (answer.status !== 200) throw new Error(`${request.path} was answered with ${answer.status}.`);
        samples.push(answer);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { ...summarise(samples), requestsPerSecond: requests.length / seconds };
}
