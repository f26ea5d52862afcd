import { projectOf, propertyOf, WORKSPACES } from '../../tables.ts';
import type { Host } from '../host.ts';
import { type SearchEngine, searchConsoleOf } from '../modules/search-console.ts';
import { Server, Tags } from '../server.ts';
import type { Owner } from '../simulation.ts';
import { CONNECTION, type Template, template } from '../template.ts';
import type { Run, World } from '../world.ts';
import { startWorker } from './worker.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const PROPERTY = propertyOf('Proj1');
const ROWS = 5;
const CLIENT: Owner = { name: 'client', isGone: false };
/** Lists of ranges that are not final are fetched again after this time, in seconds. */
const LIFETIME = 60;
/** A list that could not be stored is served by its server for this time, in seconds. */
const HELD = 600;

interface ListBody {
  readonly source: { readonly fetchedAt: string };
  readonly paging: { readonly total: number };
  readonly queries: readonly { readonly query: string; readonly clicks: number }[];
}

/**
 * Two servers answer with lists that they fetch from a search engine whose data changes all the time, while servers are
 * killed and the disk gets full. Each list is of one instant of the search engine; all pages of a sequence are of one
 * list; a list is fetched once at a time; and servers answer with new data again once the faults are over.
 */
export const lists: World = {
  name: 'lists',
  hasCatalog: true,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('lists');
    const prepared = await prepare(run);
    const { keys } = prepared;
    const machine = run.machine('machine');
    const dataFolder = await run.data(machine, prepared);
    /** The number of changes of the data; every row has it in its clicks. */
    const versionAt = (now: number): number => Math.floor((now - Date.parse('2026-03-15')) / (20 * SECOND));
    const isEmptyAt = (version: number): boolean => version % 7 === 0;
    /** When requests of a list began, and by whom. */
    const running = new Map<Host, number>();
    const answer: SearchEngine['sites'] extends ReadonlyMap<string, infer S extends { answer: unknown }>
      ? S['answer']
      : never = (request, now) => {
      const version = versionAt(now);
      const rows = isEmptyAt(version)
        ? []
        : Array.from({ length: ROWS }, (_, index) => ({
            keys: [`query ${index}`],
            clicks: version,
            impressions: 2 * version,
            ctr: 0.5,
            position: 3,
          }));
      return {
        rows: rows.slice(request.startRow, request.startRow + request.rowLimit).map((row) => JSON.stringify(row)),
        metadata: undefined,
        responseAggregationType: 'byProperty',
      };
    };
    const engine: SearchEngine = {
      sites: new Map([[PROPERTY, { answer }]]),
      random: random.fork('provider'),
      failures: random.pick([0, 0.1]),
      latency: [100, 3000],
      silent: new Set(),
      outage: undefined,
      onRequest: (_, __, process) => {
        const other = [...running].find(
          ([one, at]) => one !== process && !one.isGone && at > simulation.now - 5 * SECOND,
        );
        if (other !== undefined && !machine.isFull && simulation.now > (full.at(-1)?.to ?? 0) + 10 * SECOND)
          simulation.violate(`${process.name} fetches a list while ${other[0].name} does`);
        running.set(process, simulation.now);
      },
      onAnswered: (process) => void running.delete(process),
    };
    /** When the disk was full. */
    const full: { readonly from: number; to: number }[] = [];
    const packages = (process: Host) => searchConsoleOf(process, engine);
    const options = { machine, dataFolder, key: keys[0], isCatalogDistant: random.chance(0.4), packages };
    const environment = { ORDINATE_LISTS_LIFETIME: String(LIFETIME) };
    const tags = new Tags();
    const start = (name: string): Server => new Server(run, tags, { name, environment, ...options });
    const servers = ['s', 't'].map((name, index) => ({
      name,
      number: 1,
      key: keys[index]!,
      server: start(`${name}1`),
    }));
    startWorker(run, { name: 'worker', ...options });

    let isHealed = false;
    /** The version of each list by the instant of its fetch. */
    const fetched = new Map<string, string>();
    const look = (server: Server, body: ListBody, startedAt: number, path: string): string => {
      const { fetchedAt } = body.source;
      const versions = new Set(body.queries.map(({ clicks }) => clicks));
      if (versions.size > 1)
        simulation.violate(`${server.process.name} mixes lists: ${path} has clicks ${[...versions].join(', ')}`);
      const found = body.paging.total === 0 ? 'empty' : String([...versions][0]);
      const known = fetched.get(fetchedAt) ?? found;
      // A page after the last one has no rows.
      if (versions.size === 1 || body.paging.total === 0) fetched.set(fetchedAt, known);
      if (versions.size === 1 && known !== found)
        simulation.violate(`${server.process.name}: two lists fetched at ${fetchedAt}: ${known} and ${found}`);
      if (isHealed && startedAt > healedAt + HELD * SECOND + MINUTE && versions.size === 1) {
        const age = versionAt(startedAt) - Number(found);
        if (age * 20 > 3 * LIFETIME)
          simulation.violate(`${server.process.name} answers with a list of ${age * 20} s ago`);
      }
      return fetchedAt;
    };
    let healedAt = 0;
    const readPages = async (one: (typeof servers)[number]): Promise<void> => {
      let list: string | undefined;
      const begunAt = simulation.now;
      for (let offset = 0; offset < ROWS; offset += 2) {
        // Any server may be asked for the next page.
        const { server } = random.chance(0.5) ? one : random.pick(servers);
        const startedAt = simulation.now;
        const path = `/queries?from=2026-03-10&to=2026-03-14&limit=2&offset=${offset}`;
        const answer = await Promise.race([
          run.follow(server.process, path, server.get(path, one.key)),
          server.process.gone,
        ]);
        if (answer === undefined) return;
        const { status, text } = answer;
        const body = answer.body as ListBody;
        if (status !== 200) {
          if (status !== 503 || (isHealed && startedAt > healedAt + 2 * MINUTE))
            simulation.violate(`${server.process.name} answers ${status} ${text}`);
          return;
        }
        const fetchedAt = look(server, body, startedAt, path);
        const isWhole = body.paging.total === ROWS;
        if (list !== undefined && isWhole && list !== fetchedAt && !wasFull(begunAt) && !wasFull(Date.parse(list))) {
          simulation.violate(
            `${server.process.name}: page ${offset} is of the list of ${fetchedAt}, the one before of ${list}`,
          );
        }
        list = isWhole ? fetchedAt : undefined;
        await simulation.operation(CLIENT, 'pause', () => {}, [10, 8000]);
      }
    };
    /** Lists and sequences of these times are those of one server only. */
    const wasFull = (since: number): boolean =>
      full.some(({ from, to }) => since - 5 * SECOND < to && (since < from ? simulation.now > from : true));
    const keepReading = (one: (typeof servers)[number]): void => {
      // Pages that one key asks for are of one sequence, so that it begins the next one when it has read the last.
      const again = (): void =>
        void simulation.schedule(
          undefined,
          random.whole(200, isHealed ? 90_000 : 9000),
          `a client of ${one.name}`,
          () => keepReading(one),
        );
      const fail = (error: unknown): void => simulation.violate(`reading fails: ${String(error)}`);
      void readPages(one)
        .catch(fail)
        .then(() => again());
    };
    for (const one of servers) keepReading(one);
    const disturb = (): void => {
      if (isHealed) return;
      simulation.schedule(undefined, random.whole(5, 60) * SECOND, 'trouble', disturb);
      const one = random.pick(servers);
      if (simulation.decide('kill', random, 0.3)) {
        one.server.process.kill();
        one.number++;
        one.server = start(`${one.name}${one.number}`);
      }
      if (simulation.decide('full disk', random, 0.2)) {
        machine.isFull = true;
        const now = { from: simulation.now, to: Number.POSITIVE_INFINITY };
        full.push(now);
        simulation.schedule(undefined, random.whole(500, 8000), 'room', () => {
          machine.isFull = false;
          now.to = simulation.now;
        });
      }
    };
    simulation.schedule(undefined, 3 * SECOND, 'trouble', disturb);
    await simulation.run({ until: simulation.now + 3 * MINUTE });
    isHealed = true;
    healedAt = simulation.now;
    machine.isFull = false;
    engine.failures = 0;
    await simulation.run({ until: simulation.now + 15 * MINUTE });
  },
};

function prepare(run: Run): Promise<Template> {
  const project = projectOf('Proj1', { synced_through: '2026-03-14', provisional_after: '2026-03-09' });
  const tables = { workspaces: WORKSPACES, projects: [project] };
  return template(run, 'lists', tables, async ({ setConnection, NEVER_SYNCED, putSyncProject }, catalog) => {
    await setConnection(catalog, 'Proj1', CONNECTION, 0);
    // Never due while the world lasts.
    await putSyncProject(catalog, 'Proj1', { ...NEVER_SYNCED, nextRunAt: Date.parse('2027-01-01') * 1000 });
  });
}
