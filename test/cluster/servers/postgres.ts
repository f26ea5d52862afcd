import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../free-port.ts';

/** The folder of the programs of the newest version that is there. */
const PROGRAMS = process.env['POSTGRES_BIN'] || globSync('/usr/lib/postgresql/*/bin').sort().at(-1) || '/usr/bin';

/** Whether a server can be started here. */
export const hasPostgres = existsSync(join(PROGRAMS, 'initdb'));

/** PostgreSQL refuses to run as root. */
const user: { uid?: number; gid?: number } = hasPostgres && process.getuid?.() === 0 ? idsOf('postgres') : {};

/** Another user must reach it, so not below the folder of a test. In memory, where there is such a disk. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';

function idsOf(name: string): { uid: number; gid: number } {
  const id = (what: string): number => Number(execFileSync('id', [what, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A new folder that the user of PostgreSQL can reach. */
export function reachableFolder(name: string): string {
  const folder = mkdtempSync(join(BASE, `ordinate-${name}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** A PostgreSQL server of its own, with its data in a temporary folder. */
export class Postgres {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, password: string) {
    this.#folder = folder;
    this.#port = port;
    this.url = `postgres://admin:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  }

  /** @param authentication how it knows who connects; with `trust` the password does not matter */
  static async start(password: string, authentication: 'scram-sha-256' | 'trust' = 'scram-sha-256'): Promise<Postgres> {
    const folder = reachableFolder('postgres');
    const file = join(folder, 'password');
    writeFileSync(file, password);
    if (user.uid !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid!);
    const words = ['-D', join(folder, 'data'), '-A', authentication, '-U', 'admin', `--pwfile=${file}`];
    execFileSync(join(PROGRAMS, 'initdb'), [...words, '--locale=C.UTF-8'], { ...user, cwd: folder, stdio: 'ignore' });
    const server = new Postgres(folder, await freePort(), password);
    await server.start();
    return server;
  }

  /** Its first process, the parent of all others; undefined while it is stopped. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts it again after `stop`. */
  async start(): Promise<void> {
    const settings = {
      port: String(this.#port),
      unix_socket_directories: '',
      listen_addresses: '127.0.0.1',
      fsync: 'off',
      max_connections: '300',
    };
    const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.#process = spawn(join(PROGRAMS, 'postgres'), ['-D', join(this.#folder, 'data'), ...words], {
      ...user,
      cwd: this.#folder,
      stdio: 'ignore',
    });
    while (!(await this.#answers())) await new Promise((done) => setTimeout(done, 20));
  }

  /** Stops it. @param how `fast` ends all connections; `immediate` is like a crash */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  /** Connections stay, but nothing is answered. */
  pause(): void {
    const { pid } = this.#process!;
    // First the one that starts others.
    process.kill(pid!, 'SIGSTOP');
    this.#signalOthers('SIGSTOP');
  }

  resume(): void {
    this.#signalOthers('SIGCONT');
    this.#process?.kill('SIGCONT');
  }

  #signalOthers(signal: NodeJS.Signals): void {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.#process?.pid)], { encoding: 'utf8' });
    for (const pid of stdout.split('\n').filter((line) => line !== '')) {
      try {
        process.kill(Number(pid), signal);
      } catch {
        // It has ended.
      }
    }
  }

  async remove(): Promise<void> {
    this.resume();
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  }
}
