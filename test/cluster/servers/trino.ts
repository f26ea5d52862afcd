import { execFileSync } from 'node:child_process';
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
import { Program } from './program.ts';

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

/** A process of the cluster. */
class Machine extends Program {
  readonly #isReady: () => Promise<unknown>;
  readonly #log: string;

  /** @param isReady rejects while it does not answer */
  constructor(folder: string, program: string, isReady: () => Promise<unknown>) {
    const words = [
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
    ];
    const log = join(folder, 'log');
    const output = openSync(log, 'w', 0o600);
    super([join(process.env['JAVA_HOME_25']!, 'bin/java'), ...words], {
      cwd: folder,
      stdio: ['ignore', output, output],
    });
    this.#isReady = isReady;
    this.#log = log;
  }

  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (cause) {
      const end = readFileSync(this.#log, 'utf8').split('\n').slice(-40).join('\n');
      throw new Error(`Trino did not start:\n${end}`, { cause });
    }
  }

  protected answers(): Promise<unknown> {
    return this.#isReady();
  }
}

/** A Trino of its own: a coordinator and workers, with the Hive connector over an object store. */
export class Trino {
  readonly url: string;
  readonly #folder: string;
  readonly #machines: Machine[] = [];

  private constructor(url: string, folder: string) {
    this.url = url;
    this.#folder = folder;
  }

  /** Starts the processes, and waits until a query is answered by all of them. */
  static async start({ storage, workers = 0 }: TrinoOptions): Promise<Trino> {
    const missing = missingForTrino();
    if (missing !== undefined) throw new Error(missing);
    const program = unpack(process.env['TRINO_ARCHIVES']!);
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const trino = new Trino(url, mkdtempSync(join(tmpdir(), 'trino-')));
    const counting = `select count(*) from system.runtime.nodes where state = 'active' and (not coordinator or ${workers === 0})`;
    const isWhole = async (): Promise<void> => {
      const [row] = await askTrino(url, counting);
      if (Number(row?.[0]) < Math.max(1, workers)) throw new Error('workers are missing');
    };
    for (let number = 0; number <= workers; number++) {
      const own = join(trino.#folder, String(number));
      const isCoordinator = number === 0;
      const works = !isCoordinator || workers === 0;
      const node = { node: String(number), port: isCoordinator ? port : await freePort(), isCoordinator, works };
      writeSettings(own, { program, discovery: url, ...node });
      trino.#machines.push(new Machine(own, program, isCoordinator ? isWhole : async () => {}));
    }
    try {
      // The coordinator answers when the workers do.
      for (const machine of trino.#machines.toReversed()) await machine.start();
      await addHiveCatalog(url, 'hive', storage);
      return trino;
    } catch (error) {
      await trino.stop();
      throw error;
    }
  }

  /** Ends a process at once: 0 is the coordinator, others are workers. */
  async kill(number: number): Promise<void> {
    await this.#machines[number]!.stop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
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
