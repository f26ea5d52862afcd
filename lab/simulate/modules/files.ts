import * as sync from 'node:fs';
import * as promises from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ROOT } from '../bundle.ts';
import type { Host } from '../host.ts';
import type { Latency } from '../simulation.ts';

type Anything = (...given: never[]) => unknown;
type Given = readonly unknown[];

/** Synchronous functions that need room on the disk. */
const SYNC_WRITES = ['appendFileSync', 'copyFileSync', 'linkSync', 'mkdirSync', 'mkdtempSync', 'writeFileSync'];
/** The same of `node:fs/promises`; `open` needs room where it creates a file. */
const WRITES = ['appendFile', 'copyFile', 'link', 'mkdir', 'mkdtemp', 'writeFile'];
/** A longer text is written in two parts, as Node writes what is longer than 512 kB. */
const WHOLE = 40;
/** Functions of which Node has a synchronous version, which does the same without a thread that has to be waited for. */
const AT_ONCE = Object.keys(promises).filter((name) => name !== 'open' && `${name}Sync` in sync);
const SQL = join(ROOT, 'sql/');
/** The product's statements by path, and their list by its folder. They do not change: the first process reads them for all. */
const texts = new Map<string, unknown>();

/** The modules `node:fs` and `node:fs/promises` of a process: real files, simulated time and faults. */
export function filesOf(process: Host) {
  const { simulation, machine } = process;
  const random = simulation.random.fork(`files of ${process.name}`);
  const modified = machine.modified;
  /** Times of files are real ones. They are replaced by simulated ones that change when the real one does. */
  const stamped = <T extends { ino: number; mtimeMs: number; ctimeMs: number; mtime: Date } | undefined>(
    stats: T,
  ): T => {
    if (stats === undefined) return stats;
    const key = `${stats.ino} ${stats.mtimeMs}`;
    const at = modified.get(key) ?? Math.floor(simulation.now);
    modified.set(key, at);
    return Object.assign(stats, { mtimeMs: at, ctimeMs: at, mtime: new Date(at) });
  };
  const requireRoom = (call: string, path: unknown): void => {
    if (!machine.isFull) return;
    const error = new Error(`ENOSPC: no space left on device, ${call} '${String(path)}'`);
    throw Object.assign(error, { code: 'ENOSPC', errno: -28, syscall: call, path });
  };
  /** What is missing would look like a failure of the disk, which the product survives. */
  const complete = <Simulated extends object>(handle: Simulated): Simulated =>
    new Proxy(handle, {
      get: (target, key) => {
        // `then` is asked of all that a promise gives.
        if (!Reflect.has(target, key) && key !== 'then')
          simulation.violate(`${String(key)} of an open file is not simulated`);
        return Reflect.get(target, key) as unknown;
      },
    });
  const run = <T>(call: string, what: unknown, effect: () => T | Promise<T>, latency?: Latency): Promise<T> =>
    simulation.operation(process, `${call} ${machine.nameOf(what)}`, effect, latency);

  /** Writes in two parts, between which others may write, the disk may fill up, and the process may go away. */
  const inParts =
    (call: 'appendFile' | 'writeFile') =>
    async (path: string, content: string | Buffer, options?: sync.WriteFileOptions): Promise<void> => {
      const cut = content.length > WHOLE && random.chance(0.3) ? random.whole(1, content.length - 1) : undefined;
      const parts = cut === undefined ? [content] : [content.slice(0, cut), content.slice(cut)];
      for (const [index, part] of parts.entries()) {
        const write = call === 'writeFile' && index === 0 ? sync.writeFileSync : sync.appendFileSync;
        const effect = (): void => {
          requireRoom(call, path);
          write(path, part, options);
        };
        await run(call, path, effect, [0.1, 100]);
      }
    };

  const realSync: Readonly<Record<string, unknown>> = { ...sync };
  const wrapped: Record<string, unknown> = { ...promises };
  for (const [name, waiting] of Object.entries(promises)) {
    if (typeof waiting !== 'function') continue;
    const real = AT_ONCE.includes(name) ? realSync[`${name}Sync`] : waiting;
    wrapped[name] = (...given: Given) =>
      run(name, given[0], async () => {
        if (WRITES.includes(name)) requireRoom(name, given[0]);
        const result: unknown = await (real as Anything)(...(given as never[]));
        if (name === 'stat' || name === 'lstat') return stamped(result as sync.Stats);
        // Real folders have no order of names.
        if (name === 'readdir') return sorted(result as sync.Dirent[]);
        return result;
      });
  }
  wrapped['open'] = async (path: string, flags: string | number = 'r', mode?: number) => {
    const fd = await run('open', path, () => {
      if (flags !== 'r') requireRoom('open', path);
      const opened = sync.openSync(path, flags, mode);
      process.files.add(opened);
      return opened;
    });
    const close = () => run('close', path, () => (process.files.delete(fd) ? sync.closeSync(fd) : undefined));
    const writeFile = (content: string | Buffer) =>
      run('writeFile', path, () => {
        requireRoom('write', path);
        sync.writeFileSync(fd, content);
      });
    const handle = {
      get fd() {
        return process.files.has(fd) ? fd : -1;
      },
      close,
      writeFile,
      sync: () => run('sync', path, () => sync.fsyncSync(fd)),
      chmod: (to: number) => run('chmod', path, () => sync.fchmodSync(fd, to)),
      read: (buffer: Buffer, ...range: [offset: number, length: number, position: number]) =>
        run('read', path, () => ({ bytesRead: sync.readSync(fd, buffer, ...range), buffer })),
      [Symbol.asyncDispose]: close,
    };
    return complete(handle);
  };
  wrapped['appendFile'] = inParts('appendFile');
  wrapped['writeFile'] = inParts('writeFile');

  const wrappedSync: Record<string, unknown> = { ...sync, promises: wrapped };
  // Their time would be real.
  for (const name of Object.keys(promises).filter((one) => `${one}Sync` in sync)) {
    wrappedSync[name] = () => {
      throw new Error(`${name} of node:fs has a callback, which is not simulated: call that of node:fs/promises.`);
    };
  }
  for (const name of SYNC_WRITES) {
    const real = realSync[name] as Anything;
    wrappedSync[name] = (...given: Given) => {
      // A folder that is there needs no room.
      if (name !== 'mkdirSync' || !sync.existsSync(given[0] as string)) requireRoom(name, given[0]);
      return real(...(given as never[]));
    };
  }
  wrappedSync['openSync'] = (path: string, flags: string, mode?: number) => {
    if (flags !== 'r' && !sync.existsSync(path)) requireRoom('open', path);
    return sync.openSync(path, flags, mode);
  };
  for (const name of ['statSync', 'lstatSync'] as const) {
    wrappedSync[name] = (...given: Given) => stamped((realSync[name] as Anything)(...(given as never[])) as sync.Stats);
  }
  for (const name of ['readFileSync', 'readdirSync'] as const) {
    wrappedSync[name] = (path: string | URL | number, ...given: Given) => {
      const read = (): unknown => (realSync[name] as Anything)(...([path, ...given] as never[]));
      if (typeof path !== 'string' || !path.startsWith(SQL)) return read();
      const known = texts.get(path) ?? read();
      texts.set(path, known);
      return known;
    };
  }
  wrappedSync['createReadStream'] = (path: string, options: { start?: number; end?: number } = {}) =>
    Readable.from(
      (async function* () {
        const content = await run('read', path, () => sync.readFileSync(path));
        yield content.subarray(options.start ?? 0, (options.end ?? content.length) + 1);
      })(),
      { objectMode: false },
    );
  return { promises: wrapped, sync: wrappedSync };
}

function sorted(entries: readonly (sync.Dirent | string)[]): (sync.Dirent | string)[] {
  const nameOf = (entry: sync.Dirent | string): string =>
    typeof entry === 'string' ? entry : `${entry.parentPath}/${entry.name}`;
  return [...entries].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
