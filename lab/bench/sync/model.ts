import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Connection } from '../../../server/catalog/connections.ts';

/** One request for data that the model answered. */
export interface Asked {
  /** Milliseconds. */
  readonly at: number;
  readonly property: string;
  readonly status: number;
  readonly rows: number;
}

/** The model of the provider, as a process of its own. */
export interface Model {
  readonly properties: readonly string[];
  readonly connection: Connection;
  /** Sets its clock, in milliseconds; until then it has the time of the system. */
  setTime(now: number): void;
  /** Ends it; returns the requests that it answered. */
  stop(): Promise<Asked[]>;
}

export interface ModelOptions {
  readonly properties: number;
  /** Queries of each property. */
  readonly queries: number;
  /** Milliseconds that each answer takes. */
  readonly latency: number;
  /** Requests in a minute before the model refuses them. */
  readonly perMinute: number;
}

const program = join(import.meta.dirname, '../../../cli/demo/provider/main.ts');

export async function startModel(folder: string, options: ModelOptions): Promise<Model> {
  const { properties: count, queries, latency, perMinute } = options;
  const log = join(folder, 'requests.ndjson');
  const flags = { properties: count, queries, latency, 'per-minute': perMinute, log };
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // A real provider takes no processor time of this machine.
  setPriority(child.pid!, constants.priority.PRIORITY_LOW);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  const { url, tokenUrl, credentials, properties } = JSON.parse(line) as {
    url: string;
    tokenUrl: string;
    credentials: object;
    properties: string[];
  };
  const file = join(folder, 'credentials.json');
  writeFileSync(file, JSON.stringify(credentials), { mode: 0o600 });
  return {
    properties,
    connection: {
      kind: 'search-console',
      credentials: file,
      endpoint: url,
      tokenEndpoint: tokenUrl,
      dataset: null,
      location: null,
      grant: null,
      archive: 'none',
    },
    setTime: (now) => void child.send(now),
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      process.removeListener('exit', kill);
      const lines = readFileSync(log, 'utf8').trim().split('\n');
      return lines.map((text) => JSON.parse(text) as Asked).filter(({ property }) => property !== undefined);
    },
  };
}
