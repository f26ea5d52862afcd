import { type Client, type Database, databaseOf } from '../modules/database.ts';
import type { World } from '../world.ts';

const SECOND = 1000;
const MINUTE = 60_000;

/**
 * Three servers read the version of a catalog in a database, for each request, while others commit, and the database ends
 * connections, restarts and hangs. A request sees every commit that ended before it began; a version is one object; and a
 * request fails only if the database was away.
 */
export const versions: World = {
  name: 'versions',
  hasCatalog: false,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('versions');
    const machine = run.machine('machine');
    const database: Database = {
      value: 1,
      schema: run.start({ name: 'probe', machine }).product.SCHEMA_VERSION,
      isDown: false,
      isHanging: false,
      random: random.fork('database'),
      connections: new Set(),
      onConnect: (client) => {
        if (!simulation.decide('end a connection', random, 0.1)) return;
        simulation.schedule(undefined, random.next() * 5, 'end', () => end(client));
      },
    };
    /** Connections that the database ended while it was there: a read is sent twice, so a request survives one of them. */
    const ended: Client[] = [];
    const end = (client: Client): void => {
      ended.push(client);
      client.endByServer();
    };
    /** When the database was away for the last time. */
    let awayUntil = 0;
    const nodes = ['a', 'b', 'c'].map((name) => {
      const process = run.start({ name, machine, packages: (of) => databaseOf(of, database) });
      const { poolOf, VersionReader } = process.product;
      return {
        process,
        reader: new VersionReader(poolOf('postgres://user@host/catalog')),
        known: new Map<number, object>(),
      };
    });
    const request = async ({ process, reader, known }: (typeof nodes)[number]): Promise<void> => {
      const [from, least] = [simulation.now, database.value];
      try {
        const version = (await reader.read()) as { value: number };
        if (version.value < least)
          simulation.violate(`${process.name} answers with version ${version.value} after ${least} was committed`);
        const before = known.get(version.value) ?? version;
        known.set(version.value, version);
        if (before !== version && [...known.keys()].at(-1) === version.value)
          simulation.violate(`${process.name} takes one version for two`);
      } catch (error) {
        if (
          from > awayUntil + 6 * SECOND &&
          !database.isDown &&
          !database.isHanging &&
          awayUntil < simulation.now - 6 * SECOND &&
          ended.filter((each) => each.process === process && each.heardAt >= from).length < 2
        ) {
          simulation.violate(`${process.name} answers 503, and the database was there: ${String(error)}`);
        }
      }
    };
    const ask = (node: (typeof nodes)[number]): void => {
      // Requests come together, and then not for a while, so that connections are idle.
      simulation.schedule(
        node.process,
        random.chance(0.1) ? random.whole(5, 60) * SECOND : random.whole(0, 30),
        'requests',
        () => {
          for (let count = random.whole(1, 3); count > 0; count--)
            void run.follow(node.process, 'a request', request(node));
          ask(node);
        },
      );
    };
    for (const node of nodes) ask(node);
    const commit = (): void => {
      simulation.schedule(undefined, random.whole(1, 4 * SECOND), 'commit', () => {
        if (!database.isDown && !database.isHanging) {
          database.value++;
          random.pick(nodes).reader.outdate();
        }
        commit();
      });
    };
    commit();
    const away = (how: 'isDown' | 'isHanging'): void => {
      database[how] = true;
      awayUntil = Number.POSITIVE_INFINITY;
      if (how === 'isDown') for (const client of [...database.connections]) client.endByServer();
      simulation.schedule(undefined, random.whole(100, 8000), 'back', () => {
        database[how] = false;
        awayUntil = simulation.now;
      });
    };
    const disturb = (): void => {
      simulation.schedule(undefined, random.whole(1, 20) * SECOND, 'trouble', disturb);
      for (const client of [...database.connections])
        if (simulation.decide('end a connection', random, 0.4)) end(client);
      if (awayUntil === Number.POSITIVE_INFINITY) return;
      if (simulation.decide('restart', random, 0.05)) away('isDown');
      else if (simulation.decide('hang', random, 0.05)) away('isHanging');
    };
    simulation.schedule(undefined, SECOND, 'trouble', disturb);
    await simulation.run({ until: simulation.now + 3 * MINUTE });
  },
};
