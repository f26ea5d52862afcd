import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Machine } from '../host.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Answer, Server } from '../server.ts';
import type { Run } from '../world.ts';
import { startWorker } from './worker.ts';

const MINUTE = 60_000;

/** Clicks of a project by day. */
export type Days = ReadonlyMap<string, number>;
/** What is published, from an instant on. */
export interface Published {
  readonly at: number;
  readonly projects: Readonly<Record<string, Days>>;
  /** The last synced day of each project: later days are not answered. */
  readonly through: Readonly<Record<string, string>>;
}

interface Asked {
  readonly path: string;
  readonly id: string;
  readonly from: number;
  readonly answer: Answer;
  readonly history: readonly Published[];
}

/** Compares an answer with what was published while it was asked for. */
export function check({ simulation }: Run, { process }: Server, { path, id, from, answer, history }: Asked): void {
  if (answer.status !== 200) {
    if (answer.status !== 503)
      simulation.violate(`${process.name} answers ${path} with ${answer.status} ${answer.text}`);
    return;
  }
  const current = history.filter((_, index) => (history[index + 1]?.at ?? Number.POSITIVE_INFINITY) >= from);
  const body = answer.body as {
    totals?: { clicks: number };
    daily?: { date: string; clicks: number }[];
    devices?: { clicks: number }[];
    countries?: { clicks: number }[];
    range: { from: string; to: string };
  };
  const sum = (rows: readonly { clicks: number }[]): number => rows.reduce((total, { clicks }) => total + clicks, 0);
  const found =
    body.daily === undefined ? [sum(body.devices!), sum(body.countries!)] : [body.totals!.clicks, sum(body.daily)];
  const { range } = body;
  const wanted = current.map(({ projects, through }) => {
    // Breakdowns have all days.
    const to = body.daily !== undefined && through[id]! < range.to ? through[id]! : range.to;
    return sum([...projects[id]!].filter(([day]) => day >= range.from && day <= to).map(([, clicks]) => ({ clicks })));
  });
  if (found[0] !== found[1] || !wanted.includes(found[0]!)) {
    simulation.violate(
      `${process.name} answers ${path} with ${found.join(' and ')} clicks; published: ${wanted.join(' or ')}`,
    );
  }
}

/** Compares stored alerts with those of one evaluation of all facts. */
export async function compareAlerts(
  run: Run,
  { machine, dataFolder, isOwn }: { machine: Machine; dataFolder: string; isOwn: SimulatedProcess },
): Promise<void> {
  const { simulation } = run;
  const alerts =
    'select project_id, type, subject, date, severity, resolved_at is null as is_open from evaluated_alerts order by 1, 2, 3, 4';
  const stored = JSON.stringify(await run.rows(dataFolder, alerts));
  isOwn.kill();
  for (const table of ['evaluated_alerts', 'alert_evaluations']) await run.rows(dataFolder, `delete from ${table}`);
  startWorker(run, { name: 'evaluator', machine, dataFolder, isCatalogDistant: false });
  await simulation.run({ until: simulation.now + 3 * MINUTE });
  const fresh = JSON.stringify(await run.rows(dataFolder, alerts));
  if (stored !== fresh) simulation.violate(`alerts are ${stored}; one evaluation of the same facts gives ${fresh}`);
}

/** Tells a machine which commits to SQLite publish facts. */
export function watchRevisions(machine: Machine, dataFolder: string): void {
  const catalog = new DatabaseSync(join(dataFolder, 'catalog.sqlite'), { readOnly: true });
  const revisions = catalog.prepare('select id, facts_revision as revision from projects order by id');
  let known = JSON.stringify(revisions.all());
  const { onCommit } = machine;
  machine.onCommit = (process) => {
    const found = JSON.stringify(revisions.all());
    if (found !== known) machine.onPublish(process);
    known = found;
    onCommit(process);
  };
}
