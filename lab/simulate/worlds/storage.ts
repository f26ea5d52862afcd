import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredFile } from '../../../server/storage/file-store.ts';
import type { Machine } from '../host.ts';
import { type Bucket, objectStoreOf } from '../modules/object-store.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Run, World } from '../world.ts';

const SECOND = 1000;
const CACHE_BYTES = 4000;

/** A sealed file and its content. */
interface Sealed {
  readonly stored: StoredFile;
  readonly content: string;
  /** No longer named by a catalog, so that nobody begins to read it. */
  isRemoved: boolean;
}

interface Node {
  readonly name: string;
  readonly machine: Machine;
  number: number;
  process: SimulatedProcess;
  store: ReturnType<SimulatedProcess['product']['openFileStore']>;
}

/**
 * Files in an object store, read through the caches of two machines. What is read is what was written, for as long as it is
 * held; a cache stays within its size; and a store answers again when what it lacked is there: the object store, room on the
 * disk, or its own folder, which somebody removes.
 */
export const storage: World = {
  name: 'storage',
  hasCatalog: false,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('storage');
    const bucket: Bucket = { objects: new Map(), random: random.fork('bucket'), failures: 0.2 };
    const machines = ['x', 'y'].map((name) => run.machine(name));
    const nodes = [machines[0]!, machines[0]!, machines[1]!].map((machine, index) =>
      startNode(run, bucket, machine, `${'abc'[index]}`),
    );
    const files: Sealed[] = [];
    /** The last instant of something that may fail reads. */
    let troubledAt = 0;
    let isHealed = false;
    const trouble = (): void => {
      troubledAt = simulation.now;
    };
    const write = async (node: Node): Promise<void> => {
      const file = `facts/site_daily/Proj1/all-${files.length}-${random.whole(0, 1e9)}.parquet`;
      const content = `${file} `.repeat(random.whole(1, 20));
      const store = await node.store;
      const path = store.prepare(file);
      await simulation.operation(node.process, 'write', () => writeFileSync(path, content));
      const stored = await store.seal(file);
      if (bucket.objects.get(`facts/${file}`)?.body.toString() !== content)
        simulation.violate(`${file} is sealed and not stored`);
      files.push({ stored, content, isRemoved: false });
    };
    const read = async (node: Node): Promise<void> => {
      const wanted = files
        .filter(({ isRemoved }) => !isRemoved)
        .filter(() => random.chance(0.4))
        .slice(0, 4);
      const startedAt = simulation.now;
      const isCalm = isHealed && startedAt > troubledAt + 30 * SECOND;
      const store = await node.store;
      try {
        using opened = await store.open(wanted.map(({ stored }) => stored));
        for (let look = 0; look < 2; look++) {
          for (const [index, { stored, content }] of wanted.entries()) {
            const path = opened.paths[index]!;
            const text = simulation.operation(node.process, 'read', () => readFileSync(path, 'utf8'));
            const found = await text.catch(String);
            // Who removes the folder takes it from its readers.
            if (found !== content && troubledAt < startedAt)
              simulation.violate(`${node.process.name} reads ${stored.file} wrongly: ${found.slice(0, 100)}`);
          }
          await simulation.operation(node.process, 'pause', () => {}, [1, 5000]);
        }
      } catch (error) {
        if (isCalm) simulation.violate(`${node.process.name} cannot read, and all it needs is there: ${String(error)}`);
        const isUnexpected = (error as Error).name === 'DamagedFile' && wanted.every(({ isRemoved }) => !isRemoved);
        if (isUnexpected) simulation.violate(`${node.process.name} calls an intact file damaged: ${String(error)}`);
      }
    };
    const remove = async (node: Node, sealed: Sealed): Promise<void> => {
      sealed.isRemoved = true;
      // Files are removed an hour after they were replaced: nobody reads them any more.
      await simulation.operation(node.process, 'wait', () => {}, [20_000, 30_000]);
      await (await node.store).remove(sealed.stored.file);
    };
    const act = (node: Node): void => {
      simulation.schedule(undefined, random.whole(100, 4000), `${node.name} acts`, () => act(node));
      const removable = files.filter(({ isRemoved }) => !isRemoved);
      const what = random.next();
      const { process } = node;
      const work =
        what < 0.2 || removable.length < 2
          ? write(node)
          : what < 0.25 && removable.length > 6
            ? remove(node, random.pick(removable))
            : read(node);
      void run.follow(
        process,
        'work on files',
        work.catch(() => {}),
      );
    };
    for (const node of nodes) act(node);
    const disturb = (): void => {
      if (isHealed) return;
      simulation.schedule(undefined, random.whole(2 * SECOND, 20 * SECOND), 'trouble', disturb);
      const node = random.pick(nodes);
      if (simulation.decide('kill', random, 0.2)) {
        trouble();
        node.process.kill();
        node.number++;
        Object.assign(node, startNode(run, bucket, node.machine, node.name, node.number));
      }
      if (simulation.decide('remove cache', random, 0.25)) {
        trouble();
        rmSync(join(node.machine.folder, random.chance(0.5) ? 'data' : 'data/cache'), { recursive: true, force: true });
      }
      if (simulation.decide('full disk', random, 0.15)) {
        trouble();
        node.machine.isFull = true;
        simulation.schedule(undefined, random.whole(SECOND, 20 * SECOND), 'room', () => {
          trouble();
          node.machine.isFull = false;
        });
      }
    };
    simulation.schedule(undefined, 5 * SECOND, 'trouble', disturb);
    await simulation.run({ until: simulation.now + 90 * SECOND });
    isHealed = true;
    bucket.failures = 0;
    trouble();
    await simulation.run({ until: simulation.now + 90 * SECOND });
    for (const machine of machines) {
      const bytes = bytesOf(join(machine.folder, 'data/cache/files'));
      if (bytes > CACHE_BYTES)
        simulation.violate(`the cache of ${machine.name} has ${bytes} bytes, ${CACHE_BYTES} at most`);
    }
  },
};

function startNode(run: Run, bucket: Bucket, machine: Machine, name: string, number = 1): Node {
  const process = run.start({ name: `${name}${number}`, machine, packages: (of) => objectStoreOf(of, bucket) });
  const { openFileStore, readSettings } = process.product;
  const dataFolder = join(machine.folder, 'data');
  mkdirSync(dataFolder, { recursive: true });
  const settings = {
    ...readSettings({
      ORDINATE_DATA: dataFolder,
      ORDINATE_STORAGE: 's3://bucket/facts',
      ORDINATE_CATALOG: 'postgres://host/catalog',
    }),
    storageCache: CACHE_BYTES,
  };
  const open = async (): ReturnType<typeof openFileStore> => {
    for (;;) {
      try {
        return await openFileStore(settings);
      } catch {
        // As a process that cannot start, and is started again.
        await run.simulation.operation(process, 'start again', () => {}, [1000, 2000]);
      }
    }
  };
  return { name, machine, number, process, store: open() };
}

function bytesOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}
