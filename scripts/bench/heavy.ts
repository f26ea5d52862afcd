// A thread of clients that ask for as much as they can until they are told to stop: their own thread, so that reading
// their answers does not delay the client that is timed.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import { KeyRing } from './keys.ts';

export interface HeavyWork {
  readonly address: string;
  readonly clients: number;
  readonly keys: readonly string[];
  /** Asked in turn. */
  readonly paths: readonly string[];
}

export interface HeavyReport {
  readonly answers: number;
  readonly bytes: number;
  /** Answers other than 200 and broken ones, by status or message. */
  readonly failures: Readonly<Record<string, number>>;
}

const { address, clients, keys, paths } = workerData as HeavyWork;
const ring = new KeyRing(keys);
const failures: Record<string, number> = {};
let answers = 0;
let bytes = 0;
let next = 0;
let stopped = false;
const stop = once(parentPort!, 'message').then((): string[] => {
  stopped = true;
  return [];
});

/** Asks once, unless it is told to stop before a key may be used. Opens a new connection where the last one broke. */
async function ask(connection: Connection | undefined): Promise<Connection | undefined> {
  const [key] = await Promise.race([ring.take(1), stop]);
  if (key === undefined) return connection;
  try {
    const open = connection ?? (await Connection.open(new URL(address)));
    const answer = await open.ask(paths[next++ % paths.length]!, { authorization: `Bearer ${key}` });
    bytes += answer.bytes;
    if (answer.status === 200) answers++;
    else noteFailure(String(answer.status));
    return open;
  } catch (error) {
    noteFailure((error as Error).message);
    connection?.close();
    return undefined;
  }
}

function noteFailure(what: string): void {
  failures[what] = (failures[what] ?? 0) + 1;
}

await Promise.all(
  Array.from({ length: clients }, async () => {
    let connection: Connection | undefined;
    while (!stopped) connection = await ask(connection);
    connection?.close();
  }),
);
parentPort!.postMessage({ answers, bytes, failures } satisfies HeavyReport);
