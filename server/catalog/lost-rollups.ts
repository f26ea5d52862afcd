import { DamagedFile } from '../storage/checked-files.ts';
import { rollupOf } from './manifest.ts';

/** The projects whose rollups are lost, according to an error, its cause or its parts. The rollups can be made again. */
export function lostRollups(error: unknown): Set<string> {
  const projects = new Set<string>();
  const look = (found: unknown): void => {
    if (!(found instanceof Error)) return;
    const rollup = found instanceof DamagedFile ? rollupOf(found.file) : undefined;
    if (rollup !== undefined) projects.add(rollup.project);
    look(found.cause);
    if (found instanceof AggregateError) for (const one of found.errors) look(one);
  };
  look(error);
  return projects;
}
