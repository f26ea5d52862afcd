import type { Catalog } from './catalog.ts';

/** Projects and workspaces whose cached reports a change invalidates. */
export interface Changed {
  /** Projects whose fact files changed. */
  readonly facts: ReadonlySet<string>;
  /** Projects that changed, or their keywords, groups or page groups. */
  readonly projects: ReadonlySet<string>;
  /** Projects whose keywords changed. */
  readonly keywords: ReadonlySet<string>;
  /** Workspaces whose keyword history changed. */
  readonly workspaces: ReadonlySet<string>;
}

/** Increments the revisions of changed projects. Requires the transaction of the change. */
export async function raiseRevisions(own: Catalog, { facts, projects, keywords, workspaces }: Changed): Promise<void> {
  if (facts.size + projects.size + workspaces.size === 0) return;
  const { statements } = own;
  const { value: revision } = (await statements.get<{ value: number }>('revision_next'))!;
  for (const id of keywords) await statements.run('tracked_keywords_count', { id });
  for (const id of projects) await statements.run('entities_changed', { id, revision });
  for (const id of workspaces) await statements.run('entities_changed_of_workspace', { id, revision });
  for (const id of facts) {
    await statements.run('facts_changed', { id, revision });
    await statements.run('fact_files_changed', { id, revision });
    await statements.run('removed_parts_changed', { id, revision });
  }
}

/** Marks all projects as changed, with a revision above any of a lost catalog. */
export async function raiseAllRevisions(own: Catalog): Promise<void> {
  // Seconds since 1970 exceed any number of loads.
  const least = Math.floor(Date.now() / 1000);
  const { value: revision } = (await own.statements.get<{ value: number }>('revision_set', { least }))!;
  await own.statements.run('revision_raise_all', { revision });
  await own.statements.run('fact_files_raise_all', { revision });
}
