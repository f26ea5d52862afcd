import type { FastifyInstance } from 'fastify';
import type { Machine } from './host.ts';
import type { Packages, SimulatedProcess } from './process.ts';
import type { Run } from './world.ts';

export interface Answer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are picked from
  readonly body: any;
}

export interface ServerOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly dataFolder: string;
  readonly key: string;
  readonly isCatalogDistant?: boolean;
  readonly packages?: Packages;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A server whose process is simulated, and the entity tags that it and others have sent. */
export class Server {
  readonly process: SimulatedProcess;
  readonly #app: Promise<FastifyInstance>;
  readonly #key: string;
  readonly #tags: Tags;

  constructor(run: Run, tags: Tags, { name, machine, dataFolder, key, environment, ...options }: ServerOptions) {
    this.process = run.start({ name, machine, ...options });
    this.#key = key;
    this.#tags = tags;
    const { buildApp, Engine, openCatalog, readSettings } = this.process.product;
    const settings = readSettings({
      ORDINATE_DATA: dataFolder,
      ORDINATE_LOG_LEVEL: 'silent',
      ORDINATE_THREADS: '1',
      ...run.environment,
      ...environment,
    });
    const build = async (): Promise<FastifyInstance> => {
      const catalog = await openCatalog(settings, { create: false });
      const engine = await Engine.open({
        memoryLimit: '200MB',
        threads: 1,
        temporaryFolder: `${dataFolder}/temporary`,
        folders: [],
      });
      const { now } = run.simulation;
      return buildApp({
        settings,
        catalog,
        engine,
        logStream: { write: () => {} },
        now: () => Math.floor(Math.max(now, run.simulation.now)),
      });
    };
    this.#app = build();
    this.#app.catch((error: unknown) => run.simulation.violate(`${name} does not start: ${String(error)}`));
  }

  /** Sends a request about the project `Proj1`, or one below the root of the API. An answer with the same tag must be the same. */
  async get(path: string, key = this.#key): Promise<Answer> {
    const app = await this.#app;
    const url = path.startsWith('/projects') ? `/api/v1${path}` : `/api/v1/projects/Proj1${path}`;
    const response = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${key}` } });
    const { statusCode: status, body: text } = response;
    const etag = response.headers['etag'] as string | undefined;
    if (status === 200) this.#tags.see(this.process, url, etag, text);
    return { status, etag, text, body: JSON.parse(text) as unknown };
  }
}

/** Compares what a server answers, from its caches, with what one answers that has just started. */
export async function compareWithFresh(
  run: Run,
  server: Server,
  fresh: Server,
  paths: readonly string[],
): Promise<void> {
  for (const path of paths) {
    const [cached, anew] = await run.wait(Promise.all([server.get(path), fresh.get(path)]));
    if (cached.text === anew.text) continue;
    run.simulation.violate(
      `${server.process.name} answers ${path} from another state: ${differenceOf(cached.text, anew.text)}`,
    );
  }
}

/** The answers of all servers by their tags. */
export class Tags {
  readonly #seen = new Map<string, string>();

  see({ name, simulation }: SimulatedProcess, url: string, etag: string | undefined, text: string): void {
    if (etag === undefined) return;
    const before = this.#seen.get(`${url} ${etag}`);
    if (before !== undefined && before !== text) {
      simulation.violate(`${name} answers ${url} differently under one tag: ${differenceOf(before, text)}`);
    }
    this.#seen.set(`${url} ${etag}`, text);
  }
}

function differenceOf(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const part = (text: string): string => text.slice(Math.max(0, at - 60), at + 60);
  return `…${part(a)}… and …${part(b)}…`;
}
