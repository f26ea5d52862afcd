import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../free-port.ts';
import { Program } from './program.ts';

/** The folder of the programs of the newest version that is there. */
const PROGRAMS = process.env['POSTGRES_BIN'] || globSync('/usr/lib/postgresql/*/bin').sort().at(-1) || '/usr/bin';

/** A program of PostgreSQL, such as pg_dump. */
export const program = (name: string): string => join(PROGRAMS, name);

export const hasPostgres = existsSync(program('initdb'));

/** PostgreSQL refuses to run as root. */
const user: { uid?: number; gid?: number } = hasPostgres && process.getuid?.() === 0 ? idsOf('postgres') : {};

/** Another user must reach it, so not below the folder of a test. In memory, where there is such a disk. */
const BASE = existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
const SETTINGS = { unix_socket_directories: '', listen_addresses: '127.0.0.1', fsync: 'off', max_connections: '300' };

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
export class Postgres extends Program {
  readonly url: string;
  readonly #folder: string;

  private constructor(folder: string, port: number, password: string) {
    const settings = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    super([program('postgres'), '-D', join(folder, 'data'), ...settings], { ...user, cwd: folder });
    this.#folder = folder;
    this.url = `postgres://admin:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  }

  /** @param authentication how it knows who connects; with `trust` the password does not matter */
  static async make(password: string, authentication: 'scram-sha-256' | 'trust' = 'scram-sha-256'): Promise<Postgres> {
    const folder = reachableFolder('postgres');
    const file = join(folder, 'password');
    writeFileSync(file, password);
    if (user.uid !== undefined) for (const path of [folder, file]) chownSync(path, user.uid, user.gid!);
    const words = ['-D', join(folder, 'data'), '-A', authentication, '-U', 'admin', `--pwfile=${file}`];
    execFileSync(program('initdb'), [...words, '--locale=C.UTF-8'], { ...user, cwd: folder, stdio: 'ignore' });
    const server = new Postgres(folder, await freePort(), password);
    await server.start();
    return server;
  }

  /** First the process that starts others. */
  override pause(): void {
    super.pause();
    this.#signalOthers('SIGSTOP');
  }

  override resume(): void {
    this.#signalOthers('SIGCONT');
    super.resume();
  }

  #signalOthers(signal: NodeJS.Signals): void {
    const { stdout } = spawnSync('pgrep', ['-P', String(this.pid)], { encoding: 'utf8' });
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
    await this.stop('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  protected async answers(): Promise<void> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    await client.end();
  }
}
