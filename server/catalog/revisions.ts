import type { Day } from '../domain/dates.ts';
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

/** The last revision of any project. */
export async function lastRevision(catalog: Catalog): Promise<number> {
  return (await catalog.statements.get<{ value: number }>('revisions.last'))!.value;
}

/** Increments the revisions of changed projects. Requires the transaction of the change. */
export async function raiseRevisions(tx: Catalog, { facts, projects, keywords, workspaces }: Changed): Promise<void> {
  if (facts.size + projects.size + workspaces.size === 0) return;
  const { statements } = tx;
  for (const id of keywords) await statements.send('revisions.count_keywords', { id });
  // Others wait for this row until the commit, so nothing that follows is waited for.
  await statements.send('revisions.next');
  for (const id of projects) await statements.send('revisions.change_entities', { id });
  for (const id of workspaces) await statements.send('revisions.change_entities_of_workspace', { id });
  for (const id of facts) {
    await statements.send('revisions.change_facts', { id });
    await statements.send('revisions.change_files', { id });
    await statements.send('revisions.change_removed_parts', { id });
  }
}

/**
 * Invalidates cached reports of the projects that have reported a day after one. Requires the transaction of the change.
 * @param options `after`: null for all projects
 */
export async function raiseRevisionsOfReported(tx: Catalog, { after }: { readonly after: Day | null }): Promise<void> {
  if ((await tx.statements.get('revisions.any_reported', { after })) === undefined) return;
  await tx.statements.send('revisions.next');
  await tx.statements.send('revisions.change_entities_of_reported', { after });
}

/** Marks all projects as changed, with a revision above any of a lost catalog. */
export async function raiseAllRevisions(tx: Catalog): Promise<void> {
  // Seconds since 1970 exceed any number of loads.
  const least = Math.floor(Date.now() / 1000);
  const { value: revision } = (await tx.statements.get<{ value: number }>('revisions.set', { least }))!;
  await tx.statements.run('revisions.raise_projects', { revision });
  await tx.statements.run('revisions.raise_files', { revision });
}
