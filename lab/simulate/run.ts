import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Program } from './bundle.ts';
import type { Databases } from './postgres/databases.ts';
import { Simulation } from './simulation.ts';
import { Run, START, type World } from './world.ts';

export interface Outcome {
  readonly violation: string | undefined;
  readonly decisions: readonly string[];
  readonly trace: readonly string[];
  /** Equal for runs in which the same happened. */
  readonly fingerprint: string;
}

/**
 * Runs one world with one seed.
 * @param without decisions to leave out
 * @param databases where catalogs are; undefined for SQLite
 */
export async function runSeed(
  program: Program,
  world: World,
  seed: number,
  { without = new Set(), databases }: { without?: ReadonlySet<string>; databases?: Databases | undefined } = {},
): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-simulation-'));
  const simulation = new Simulation(seed, { start: START, without });
  const run = new Run(simulation, program, folder, databases);
  const onError = (error: unknown): void => simulation.violate(`nobody handles a failure: ${describe(error)}`);
  process.on('unhandledRejection', onError);
  process.on('uncaughtException', onError);
  let isOver = false;
  try {
    await Promise.race([world.run(run), stalled(simulation, () => isOver)]);
  } catch (error) {
    simulation.violate(`the world has failed: ${describe(error)}`);
  } finally {
    isOver = true;
    await run.stop();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onError);
    process.off('uncaughtException', onError);
    rmSync(folder, { recursive: true, force: true });
  }
  const { violations, decisions, trace, fingerprint } = simulation;
  return { violation: violations[0]?.message.replaceAll(folder, ''), decisions, trace, fingerprint };
}

/** Ends when a world waits for something that no event will give: after a violation, events are not run any more. */
async function stalled(simulation: Simulation, isOver: () => boolean): Promise<void> {
  for (let looks = 0; looks < 5 && !isOver(); looks++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    // A world prepares its data before it begins.
    if (simulation.isRunning || simulation.elapsed === 0) looks = 0;
  }
  if (!isOver() && simulation.violations.length === 0)
    simulation.violate('the world waits for something that no event gives');
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Most runs to shorten a failing one, and where each takes longer. */
const MAX_TRIES = { sqlite: 60, postgres: 12 };

/** Leaves out as many decisions as possible with which the same property is violated. */
export async function shorten(
  program: Program,
  world: World,
  seed: number,
  found: Outcome,
  databases?: Databases,
): Promise<Outcome> {
  let best = found;
  let without = new Set<string>();
  const most = databases === undefined ? MAX_TRIES.sqlite : MAX_TRIES.postgres;
  let tries = 0;
  for (let size = Math.ceil(best.decisions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.decisions.length && tries < most; ) {
      const fewer = new Set([...without, ...best.decisions.slice(at, at + size)]);
      const outcome = await runSeed(program, world, seed, { without: fewer, databases });
      tries++;
      if (outcome.violation === found.violation) {
        best = outcome;
        without = fewer;
      } else at += size;
    }
  }
  return best;
}
