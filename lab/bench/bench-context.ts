import type { Engine } from '../../server/facts/duckdb/engine.ts';
import { Connection } from './connection.ts';
import type { BenchData, Data } from './data.ts';
import type { BenchOptions } from './options.ts';
import { type Server, startServer } from './ordinate.ts';
import type { Peer } from './peers/peer.ts';
import type { Sample } from './rounds.ts';
import { workspaceName } from './snapshots.ts';

export const API = '/api/v1';

/** The tools and data of all measurements. */
export interface Bench {
  readonly options: BenchOptions;
  readonly data: BenchData;
  /** DuckDB in this process, for baselines. */
  readonly engine: Engine;
  readonly peers: readonly Peer[];
  readonly report: (step: string) => void;
}

interface Served {
  readonly cache: boolean;
  readonly metrics?: boolean;
}

/** The servers of a quick run, by what they serve; undefined: each measurement has new ones. */
let shared: Map<string, Promise<Server>> | undefined;

/** Lets measurements share servers, which takes half of the time; their memory and limits are then those of all. */
export function shareServers(): void {
  shared = new Map();
}

/** Stops servers that are shared. */
export async function stopShared(): Promise<void> {
  for (const server of shared?.values() ?? []) await (await server).stop();
}

/** Like `withNewServer`, with a server that is shared if servers are. */
export async function withServer<T>(data: Data, options: Served, work: (server: Server) => Promise<T>): Promise<T> {
  if (shared === undefined) return withNewServer(data, options, work);
  const what = JSON.stringify([data.folder, options]);
  const server = shared.get(what) ?? start(data, options);
  shared.set(what, server);
  return work(await server);
}

/** Runs `work` with a new server over the data, then stops the server. Its rate limits and memory start from zero. */
export async function withNewServer<T>(data: Data, options: Served, work: (server: Server) => Promise<T>): Promise<T> {
  const server = await start(data, options);
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

function start({ folder, keys }: Data, options: Served): Promise<Server> {
  return startServer({ dataFolder: folder, keys: keys[workspaceName(1)]!, ...options });
}

/** One client of the server. Throws if the status is not the expected one. */
export class Client {
  readonly #connection: Connection;
  readonly #server: Server;

  private constructor(connection: Connection, server: Server) {
    this.#connection = connection;
    this.#server = server;
  }

  static async of(server: Server): Promise<Client> {
    return new Client(await Connection.open(server.address), server);
  }

  /** Times a request. */
  async time(path: string, headers: Readonly<Record<string, string>> = {}, status = 200): Promise<Sample> {
    return this.#get(path, headers, false, status);
  }

  /** The entity tag of an answer. */
  async tag(path: string): Promise<string> {
    return (await this.#get(path, {}, false)).headers.get('etag')!;
  }

  /** The body of an answer. */
  async read(path: string): Promise<Buffer> {
    return (await this.#get(path, {}, true)).body!;
  }

  close(): void {
    this.#connection.close();
  }

  async #get(path: string, headers: Readonly<Record<string, string>>, keepBody: boolean, status = 200) {
    const [key] = await this.#server.keys.take(1);
    const answer = await this.#connection.get(
      `${API}${path}`,
      { authorization: `Bearer ${key}`, ...headers },
      keepBody,
    );
    if (answer.status !== status) throw new Error(`${path} was answered with ${answer.status}.`);
    return answer;
  }
}
