import { join } from 'node:path';
import { addDays } from '../../../server/domain/dates.ts';
import { projectOf, type Row, WORKSPACES, writeTables } from '../../tables.ts';
import type { Host } from '../host.ts';
import { compareWithFresh, Server, Tags } from '../server.ts';
import { type Template, template } from '../template.ts';
import type { Run, World } from '../world.ts';
import { check, compareAlerts, type Days, type Published, watchRevisions } from './facts-checks.ts';
import { startWorker } from './worker.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const FROM = '2025-12-20';
/** Stored at the beginning; loads add later days, and change these. */
const THROUGH = '2026-03-05';
/** The last day that a load accepts: the day after the worlds' START. Many loads reach it. */
const LAST = '2026-03-16';
const PROJECTS = ['Proj1', 'Proj2'];

/** A load that runs. */
interface Load extends Omit<Published, 'at'> {
  /** The publications it has made. */
  published: number;
}

/**
 * Two processes load snapshots of two projects, are killed, and meet a full disk, while two servers answer and alerts are
 * evaluated. Each answer is that of one publication which was current while it was asked for; each load is published
 * once or, where it fails, not at all; and the alerts are those of one evaluation of all that was loaded.
 */
export const facts: World = {
  name: 'facts',
  hasCatalog: true,
  async run(run) {
    const { simulation } = run;
    const random = simulation.random.fork('facts');
    const prepared = await prepare(run);
    const { keys } = prepared;
    const machine = run.machine('machine');
    const dataFolder = await run.data(machine, prepared);
    const isCatalogDistant = random.chance(0.6);
    const options = { machine, dataFolder, key: keys[0], isCatalogDistant };
    const tags = new Tags();
    // Each has its own key: under many loads, a shared one would exceed its limit a minute.
    const servers = ['s', 't'].map((name, index) => new Server(run, tags, { name, ...options, key: keys[index]! }));
    const history: Published[] = [
      {
        at: 0,
        projects: { Proj1: firstDays('Proj1'), Proj2: firstDays('Proj2') },
        through: { Proj1: THROUGH, Proj2: THROUGH },
      },
    ];
    const loaders = ['l', 'm'].map((name) => ({
      name,
      number: 1,
      process: run.start({ name: `${name}1`, machine, isCatalogDistant }),
    }));
    const loads = new Map<Host, Load>();
    /** Loads whose process was killed: a commit that a server has got takes effect. */
    const killed = new Map<Host, Load>();
    machine.onPublish = (process) => {
      const load = loads.get(process) ?? killed.get(process);
      if (load === undefined) return simulation.violate(`${process.name} publishes, and loads nothing`);
      if (++load.published > 1) simulation.violate(`${process.name} publishes one load twice`);
      const { projects, through } = history.at(-1)!;
      const after = Object.fromEntries(
        PROJECTS.map((id) => [id, new Map([...projects[id]!, ...(load.projects[id] ?? [])])]),
      );
      history.push({ at: simulation.now, projects: after, through: { ...through, ...load.through } });
    };

    let isHealed = false;
    let numbers = 0;
    const load = async (loader: (typeof loaders)[number]): Promise<void> => {
      const { process } = loader;
      const number = ++numbers;
      const { projects } = history.at(-1)!;
      const change: Record<string, Days> = {};
      for (const id of PROJECTS.filter((_, index) => index === number % 2 || random.chance(0.3))) {
        const last = [...projects[id]!.keys()].sort().at(-1)!;
        const from = addDays(last, -random.whole(0, 3));
        const days = Array.from({ length: random.whole(2, 5) }, (_, index) => addDays(from, index)).filter(
          (day) => day <= LAST,
        );
        // Few clicks, for alerts, or as many as before: what was a drop may be none later.
        const clicks = number + (random.chance(0.5) ? 100 : 1000);
        change[id] = new Map(days.map((day) => [day, clicks]));
      }
      const folder = join(machine.folder, `rows${number}`);
      const last = (id: string): string => [...projects[id]!.keys(), ...change[id]!.keys()].sort().at(-1)!;
      const through = Object.fromEntries(Object.keys(change).map((id) => [id, last(id)]));
      writeTables(folder, {
        projects: Object.entries(through).map(([id, day]) => syncedThrough(id, day)),
        ...rowsOf(change),
      });
      const own: Load = { projects: change, through, published: 0 };
      loads.set(process, own);
      const { loadSnapshot, openCatalog, readSettings } = process.product;
      const settings = readSettings({ ORDINATE_DATA: dataFolder, ORDINATE_THREADS: '1', ...run.environment });
      try {
        await using opened = await openCatalog(settings, { create: false });
        await loadSnapshot({ settings, catalog: opened }, { folder, acceptImplausible: true });
        if (own.published !== 1) simulation.violate(`${process.name} calls a load done that was not published`);
      } catch (error) {
        simulation.note(`${process.name}: ${String(error)}`);
        if (own.published > 0) simulation.violate(`${process.name} calls a published load failed: ${String(error)}`);
        if (isHealed) simulation.violate(`${process.name} cannot load, and all faults are over: ${String(error)}`);
      } finally {
        loads.delete(process);
      }
    };
    const kill = (loader: (typeof loaders)[number]): void => {
      if (isHealed || !loads.has(loader.process)) return;
      loader.process.kill();
      killed.set(loader.process, loads.get(loader.process)!);
      loads.delete(loader.process);
      loader.number++;
      loader.process = run.start({ name: `${loader.name}${loader.number}`, machine, isCatalogDistant });
    };
    const setFull = (isFull: boolean): void => {
      machine.isFull = isFull && !isHealed;
    };
    const paths = (id: string): string[] => [
      `/projects/${id}/site?from=2026-03-01&to=2026-03-30`,
      `/projects/${id}/site?from=2026-02-01&to=2026-03-30&compare=previous`,
      `/projects/${id}/breakdowns?from=2026-03-01&to=2026-03-30`,
    ];
    const ask = async (): Promise<void> => {
      const server = random.pick(servers);
      const id = random.pick(PROJECTS);
      const path = random.pick(paths(id));
      const from = simulation.now;
      const answer = await run.follow(server.process, path, server.get(path));
      check(run, server, { path, id, from, answer, history });
    };
    /** Commits something that no answer has. */
    const operator = run.start({ name: 'operator', machine });
    const operated = await run.wait(
      operator.product.openCatalog(operator.product.readSettings({ ORDINATE_DATA: dataFolder, ...run.environment }), {
        create: false,
      }),
    );
    const write = async (): Promise<void> => {
      const { putSyncProject, readSyncProject } = operator.product;
      await putSyncProject(operated, 'Proj1', {
        ...(await readSyncProject(operated, 'Proj1')),
        failures: random.whole(0, 9),
      });
    };
    const writeLater = (delay: number): void =>
      void simulation.schedule(undefined, delay, 'an operator', () => void write().catch(() => {}));
    const askLater = (delay: number): void =>
      void simulation.schedule(
        undefined,
        delay,
        'a client',
        () => void ask().catch((error: unknown) => simulation.violate(`a request fails: ${String(error)}`)),
      );
    for (let at = 0; at < 2 * MINUTE; at += random.whole(1, 8000)) askLater(at);
    // Requests that are answered while a publication becomes visible, and other commits just before and after it.
    const askAround = (process: Host): void => {
      if (!loads.has(process)) return;
      for (let count = 0; count < 8; count++) askLater(random.next() * 60);
      for (let count = 0; count < 2; count++) writeLater(random.next() * 80);
    };
    machine.onBegin = askAround;
    machine.onCommit = askAround;
    if (run.database === undefined) watchRevisions(machine, dataFolder);
    /** What happens while a load runs, which takes about two seconds. */
    const disturb = (loader: (typeof loaders)[number]): void => {
      // Just before it publishes.
      for (let count = 0; count < 8; count++) askLater(random.whole(300, 2500));
      if (simulation.decide('kill', random, 0.3))
        simulation.schedule(undefined, random.whole(0, 2500), 'kill', () => kill(loader));
      if (simulation.decide('full disk', random, 0.2)) {
        const from = random.whole(0, 2500);
        simulation.schedule(undefined, from, 'full', () => setFull(true));
        simulation.schedule(undefined, from + random.whole(100, 3000), 'room', () => setFull(false));
      }
    };
    const keepLoading = (loader: (typeof loaders)[number]): void => {
      simulation.schedule(undefined, random.whole(5, 40) * SECOND, `${loader.name} loads`, () => {
        if (isHealed) return;
        const { process } = loader;
        disturb(loader);
        const loaded = run.follow(process, 'a load', load(loader));
        // A load never ends if its process is killed.
        void Promise.race([loaded, process.gone]).then(() => keepLoading(loader));
      });
    };
    for (const loader of loaders) keepLoading(loader);

    const worker = startWorker(run, { name: 'worker', ...options });
    await simulation.run({ until: simulation.now + 2 * MINUTE });
    isHealed = true;
    machine.isFull = false;
    await simulation.run({ until: simulation.now + 20 * MINUTE, isDone: () => loads.size === 0 });
    if (loads.size > 0) simulation.violate('a load waits for ever');
    // One more load, which finds what killed ones have left.
    await Promise.all([run.follow(loaders[0]!.process, 'the last load', load({ ...loaders[0]! })), run.settle()]);
    const fresh = new Server(run, tags, { name: 'fresh', ...options });
    for (const server of servers) await compareWithFresh(run, server, fresh, PROJECTS.flatMap(paths));
    // Alerts are evaluated each minute.
    await simulation.run({ until: simulation.now + 3 * MINUTE });
    if (simulation.violations.length === 0) await compareAlerts(run, { machine, dataFolder, isOwn: worker });
  },
};

function firstDays(id: string): Days {
  const days = new Map<string, number>();
  for (let day = FROM; day <= THROUGH; day = addDays(day, 1)) days.set(day, id === 'Proj1' ? 1000 : 500);
  return days;
}

function rowsOf(projects: Readonly<Record<string, Days>>): Record<string, Row[]> {
  const rows = (column: string, value: string): Row[] =>
    Object.entries(projects).flatMap(([project_id, days]) =>
      [...days].map(([date, clicks]) => ({
        project_id,
        date,
        [column]: value,
        clicks,
        impressions: 10 * clicks,
        sum_position: clicks,
      })),
    );
  return { site_daily: rows('device', 'mobile'), country_daily: rows('country', 'usa') };
}

const syncedThrough = (id: string, last: string): Row =>
  projectOf(id, { synced_through: last, provisional_after: last });

function prepare(run: Run): Promise<Template> {
  const projects = Object.fromEntries(PROJECTS.map((id) => [id, firstDays(id)]));
  return template(run, 'facts', {
    workspaces: WORKSPACES,
    projects: PROJECTS.map((id) => syncedThrough(id, THROUGH)),
    ...rowsOf(projects),
  });
}
