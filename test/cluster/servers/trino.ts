import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';

/** Where the fact files are, and a bucket for the metastore. */
export interface TrinoStorage {
  /** `http://HOST:PORT` */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
}

interface TrinoOptions {
  readonly storage: TrinoStorage;
  /** Without workers the coordinator works itself. */
  readonly workers?: number;
}

/** How long the cluster may take to start, in milliseconds: a busy machine needs minutes. */
const START_TIMEOUT = 600_000;

/** Options of Java with which tests need less processor time: they end before the better compiler has paid. */
const QUICK = ['-Xmx1536M', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/** What is missing to start Trino; undefined if nothing is. */
export function missingForTrino(): string | undefined {
  const { TRINO_ARCHIVES, JAVA_HOME_25 } = process.env;
  if (!TRINO_ARCHIVES || archiveIn(TRINO_ARCHIVES, 'trino-server-core') === undefined) {
    return 'TRINO_ARCHIVES names no folder with trino-server-core-*.tar.gz';
  }
  if (archiveIn(TRINO_ARCHIVES, 'trino-hive') === undefined) return 'TRINO_ARCHIVES has no trino-hive-*.zip';
  return JAVA_HOME_25 && existsSync(join(JAVA_HOME_25, 'bin/java')) ? undefined : 'JAVA_HOME_25 names no JDK 25';
}

/** A Trino of its own: a coordinator and workers, with the Hive connector over an object store. */
export class Trino {
  readonly url: string;
  readonly #folder: string;
  readonly #processes: ChildProcess[];

  private constructor(url: string, folder: string, processes: ChildProcess[]) {
    this.url = url;
    this.#folder = folder;
    this.#processes = processes;
  }

  /** Starts the processes, and waits until all of them work. */
  static async start({ storage, workers = 0 }: TrinoOptions): Promise<Trino> {
    const missing = missingForTrino();
    if (missing !== undefined) throw new Error(missing);
    const program = unpack(process.env['TRINO_ARCHIVES']!);
    const folder = mkdtempSync(join(tmpdir(), 'trino-'));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const processes: ChildProcess[] = [];
    const trino = new Trino(url, folder, processes);
    try {
      for (let number = 0; number <= workers; number++) {
        const own = join(folder, String(number));
        writeSettings(own, {
          program,
          discovery: url,
          node: String(number),
          port: number === 0 ? port : await freePort(),
          isCoordinator: number === 0,
          works: number > 0 || workers === 0,
        });
        processes.push(startProcess(own, program));
      }
      await trino.#untilReady(Math.max(1, workers));
      await addHiveCatalog(url, 'hive', storage);
      return trino;
    } catch (error) {
      await trino.stop();
      throw error;
    }
  }

  /** Ends a process at once: 0 is the coordinator, others are workers. */
  async kill(number: number): Promise<void> {
    const running = this.#processes[number]!;
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((_, number) => this.kill(number)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Waits until a query is answered by as many machines as there should be. */
  async #untilReady(machines: number): Promise<void> {
    const counting = `select count(*) from system.runtime.nodes where state = 'active' and (not coordinator or ${machines === 1})`;
    for (const deadline = Date.now() + START_TIMEOUT; ; ) {
      const count = await askTrino(this.url, counting).then(
        ([row]) => Number(row?.[0]),
        () => 0,
      );
      if (count >= machines) return;
      const ended = this.#processes.findIndex(({ exitCode }) => exitCode !== null);
      if (ended >= 0 || Date.now() > deadline) {
        const log = readFileSync(join(this.#folder, String(Math.max(ended, 0)), 'log'), 'utf8');
        throw new Error(`Trino did not start:\n${log.split('\n').slice(-40).join('\n')}`);
      }
      await new Promise((done) => setTimeout(done, 300));
    }
  }
}

/** The storage that the environment of tests names. */
export function storageOfTests(bucket: string): TrinoStorage {
  const { ORDINATE_TEST_S3, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION } = process.env;
  return {
    endpoint: ORDINATE_TEST_S3!,
    region: AWS_REGION || 'us-east-1',
    accessKey: AWS_ACCESS_KEY_ID!,
    secretKey: AWS_SECRET_ACCESS_KEY!,
    bucket,
  };
}

/** All rows of a statement. Throws its error. */
export async function askTrino(url: string, statement: string): Promise<unknown[][]> {
  interface Answer {
    readonly nextUri?: string;
    readonly data?: unknown[][];
    readonly error?: { readonly message: string };
  }
  const headers = { 'x-trino-user': 'test' };
  const read = async (response: Promise<Response>): Promise<Answer> => (await (await response).json()) as Answer;
  const rows: unknown[][] = [];
  let answer = await read(fetch(`${url}/v1/statement`, { method: 'POST', headers, body: statement }));
  for (;;) {
    if (answer.error !== undefined) throw new Error(answer.error.message);
    rows.push(...(answer.data ?? []));
    if (answer.nextUri === undefined) return rows;
    answer = await read(fetch(answer.nextUri, { headers }));
  }
}

function archiveIn(folder: string, name: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const found = readdirSync(folder).find((file) => file.startsWith(`${name}-`) && /\.(tar\.gz|zip)$/.test(file));
  return found && join(folder, found);
}

/** Unpacks the archives beside themselves, once. Returns the folder of the program. */
function unpack(archives: string): string {
  const folder = join(process.env['TRINO_UNPACKED'] || join(archives, 'unpacked'));
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`;
    mkdirSync(join(unfinished, 'plugin'), { recursive: true });
    execFileSync('tar', ['xzf', archiveIn(archives, 'trino-server-core')!, '-C', unfinished]);
    execFileSync('unzip', ['-q', archiveIn(archives, 'trino-hive')!, '-d', unfinished]);
    const folders = readdirSync(unfinished);
    const named = (name: string): string => folders.find((found) => found.startsWith(name))!;
    symlinkSync(named('trino-server-core'), join(unfinished, 'server'));
    // The only plugin: each one takes time to start.
    symlinkSync(join('..', named('trino-hive')), join(unfinished, 'plugin/hive'));
    renameSync(unfinished, folder);
  }
  return folder;
}

/** `node` is the number of the process. */
type ProcessSettings = Record<'program' | 'discovery' | 'node', string> &
  Record<'isCoordinator' | 'works', boolean> & { port: number };

function writeSettings(folder: string, settings: ProcessSettings): void {
  const { program, discovery, node, port, isCoordinator, works } = settings;
  mkdirSync(folder, { recursive: true });
  const lines = {
    'node.environment': 'test',
    'node.id': node,
    coordinator: isCoordinator,
    ...(isCoordinator ? { 'node-scheduler.include-coordinator': works } : {}),
    'http-server.http.port': port,
    'discovery.uri': discovery,
    'plugin.dir': join(program, 'plugin'),
    // Also tests add catalogs.
    'catalog.management': 'dynamic',
    'query.max-memory-per-node': '700MB',
    'memory.heap-headroom-per-node': '300MB',
    // A query whose worker has died fails after this time.
    'query.remote-task.max-error-duration': '5s',
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, 'config.properties'), text.join(''));
}

/** Adds a catalog of tables over files in an object store. */
export async function addHiveCatalog(url: string, name: string, storage: TrinoStorage): Promise<void> {
  const settings = {
    'hive.metastore': 'file',
    'hive.metastore.catalog.dir': `s3://${storage.bucket}/metastore`,
    // There are no statistics of our tables, and each query would log an error.
    'hive.table-statistics-enabled': 'false',
    'fs.native-s3.enabled': 'true',
    's3.endpoint': storage.endpoint,
    's3.region': storage.region,
    's3.path-style-access': 'true',
    's3.aws-access-key': storage.accessKey,
    's3.aws-secret-key': storage.secretKey,
    // Trino would try for minutes, longer than a request of ours may take.
    's3.max-error-retries': '3',
    's3.socket-read-timeout': '5s',
  };
  const properties = Object.entries(settings).map(([key, value]) => `"${key}" = '${value}'`);
  await askTrino(url, `create catalog ${name} using hive with (${properties.join(', ')})`);
}

function startProcess(folder: string, program: string): ChildProcess {
  const log = openSync(join(folder, 'log'), 'w', 0o600);
  return spawn(
    join(process.env['JAVA_HOME_25']!, 'bin/java'),
    [
      ...QUICK,
      '-XX:+UnlockDiagnosticVMOptions',
      '-Djdk.attach.allowAttachSelf=true',
      '-Djdk.nio.maxCachedBufferSize=2000000',
      '--add-modules=jdk.incubator.vector',
      `-Dconfig=${join(folder, 'config.properties')}`,
      `-Dnode.data-dir=${join(folder, 'data')}`,
      '-cp',
      join(program, 'server/lib/*'),
      'io.trino.server.TrinoServer',
    ],
    { cwd: folder, stdio: ['ignore', log, log] },
  );
}
