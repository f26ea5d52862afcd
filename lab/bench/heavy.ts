// A thread of clients that send as many requests as they can until they get a message. They have their own thread, so
// that reading their answers does not delay the client that is timed.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { Connection } from './connection.ts';
import { KeyRing } from './keys.ts';

export interface HeavyWork {
  readonly address: string;
  readonly clients: number;
  readonly keys: readonly string[];
  /** Requested in turn. */
  readonly paths: readonly string[];
}

export interface HeavyReport {
  readonly answers: number;
  readonly bytes: number;
  /** Number of failures by status or error message. */
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

/** Sends a request, unless it is stopped before a key is free. Opens a new connection if the last one broke. */
async function sendRequest(connection: Connection | undefined): Promise<Connection | undefined> {
  const [key] = await Promise.race([ring.take(1), stop]);
  if (key === undefined) return connection;
  try {
    const open = connection ?? (await Connection.open(new URL(address)));
    const answer = await open.get(paths[next++ % paths.length]!, { authorization: `Bearer ${key}` });
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
    while (!stopped) connection = await sendRequest(connection);
    connection?.close();
  }),
);
parentPort!.postMessage({ answers, bytes, failures } satisfies HeavyReport);
