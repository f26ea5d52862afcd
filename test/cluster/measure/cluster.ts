import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../../../lab/bench/baselines.ts';
import { type BenchData, prepareData } from '../../../lab/bench/data.ts';
import type { BenchOptions } from '../../../lab/bench/options.ts';
import { ordinate, type Server, startServer } from '../../../lab/bench/ordinate.ts';
import { workspaceName } from '../../../lab/bench/snapshots.ts';
import { Postgres } from '../servers/postgres.ts';
import { S3_KEYS, S3Server } from '../servers/s3.ts';

const BUCKET = 'ordinate';
/** Of each key; the largest value. No measurement sends as many. */
const REQUESTS_PER_MINUTE = '100000';
/** Jobs would run beside some measurements and not beside others. */
const ALONE = { ORDINATE_JOBS: 'off' };

/** One data folder, the same data in PostgreSQL and an object store, and servers over both. */
export class Cluster implements AsyncDisposable {
  readonly data: BenchData;
  readonly postgres: Postgres;
  readonly s3: S3Server;
  readonly #folder: string;
  readonly #opened: AsyncDisposableStack;
  #places = 0;

  private constructor(folder: string, data: BenchData, servers: [Postgres, S3Server], opened: AsyncDisposableStack) {
    this.#folder = folder;
    this.data = data;
    [this.postgres, this.s3] = servers;
    this.#opened = opened;
  }

  /** Makes the data unless it is there, starts PostgreSQL and an object store, and copies the data by commands. */
  static async start(options: BenchOptions, report: (step: string) => void): Promise<Cluster> {
    mkdirSync(options.folder, { recursive: true });
    const engine = await openEngine(options.folder, 2);
    const data = await prepareData(engine, options, report).finally(() => void engine.close());
    await using opened = new AsyncDisposableStack();
    const folder = join(options.folder, `cluster-${process.pid}`);
    mkdirSync(folder);
    opened.defer(() => rmSync(folder, { recursive: true, force: true }));
    const source = join(folder, 'source');
    // After the copy, a folder notes that its catalog is elsewhere.
    cpSync(data.folder, source, { recursive: true });
    for (const place of [data.folder, source])
      await ordinate(place, 'workspaces', 'set', workspaceName(1), '--requests-per-minute', REQUESTS_PER_MINUTE);
    const postgres = opened.adopt(await Postgres.start('pass-word-of-tests'), (it) => it.remove());
    const s3 = opened.adopt(await S3Server.start(join(folder, 's3'), BUCKET), (it) => it.stop());
    const cluster = new Cluster(folder, data, [postgres, s3], opened);
    const { ORDINATE_CATALOG: catalog, ORDINATE_STORAGE: storage, ...store } = cluster.settings;
    report('copying the files and the catalog');
    await ordinate({ ...store, ORDINATE_DATA: source }, 'storage', 'copy', '--to', storage!);
    await ordinate({ ORDINATE_DATA: source }, 'catalog', 'copy', '--to', catalog!);
    return new Cluster(folder, data, [postgres, s3], opened.move());
  }

  /** The settings that nodes have in common. */
  get settings(): NodeJS.ProcessEnv {
    return {
      ...S3_KEYS,
      ORDINATE_CATALOG: this.postgres.url,
      ORDINATE_STORAGE: `s3://${BUCKET}/measured`,
      ORDINATE_STORAGE_ENDPOINT: this.s3.endpoint,
    };
  }

  /** Keys of the workspace that everything is asked of. */
  get keys(): readonly string[] {
    return this.data.keys[workspaceName(1)]!;
  }

  /** A new folder for what a node keeps on its disk. */
  place(): string {
    const place = join(this.#folder, `node-${this.#places++}`);
    mkdirSync(place);
    return place;
  }

  /** A server over the data folder. */
  embedded(cache: boolean): Promise<Server> {
    return this.#serve(this.data.folder, cache, {});
  }

  /** A server over PostgreSQL and the object store, with an empty disk cache. */
  node(cache: boolean): Promise<Server> {
    return this.#serve(this.place(), cache, this.settings);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  #serve(dataFolder: string, cache: boolean, settings: NodeJS.ProcessEnv): Promise<Server> {
    return startServer({ dataFolder, keys: this.keys, cache, settings: { ...ALONE, ...settings } });
  }
}

/** Runs `work` with servers, and stops them. */
export async function withServers<T>(
  starting: readonly Promise<Server>[],
  work: (...servers: Server[]) => Promise<T>,
): Promise<T> {
  const servers = await Promise.all(starting);
  try {
    return await work(...servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
