import type { ManifestRow, Publication } from '../catalog/fact-files.ts';
import type { JournalLine, StoredRecord } from '../load/journal.ts';

/** The state after all records of a journal. */
export interface JournalState {
  readonly last: Publication;
  readonly manifest: readonly ManifestRow[];
}

/**
 * Reads records from the oldest to the newest. Throws where one is damaged.
 * @param apply called for each line; applies it to entities
 */
export async function replay(
  records: readonly StoredRecord[],
  apply: (line: JournalLine) => Promise<void> = async () => {},
): Promise<JournalState> {
  const manifest = new Map<string, ManifestRow>();
  const workspaceOf = new Map<unknown, unknown>();
  const partOf = ({ project, table, part }: Pick<ManifestRow, 'project' | 'table' | 'part'>): string =>
    JSON.stringify([project, table, part]);
  for (const { lines } of records) {
    for await (const line of lines()) {
      await apply(line);
      if ('file' in line) manifest.set(partOf(line.file), line.file);
      else if ('gone' in line) manifest.delete(partOf(line.gone));
      else if ('upsert' in line && line.upsert === 'projects')
        workspaceOf.set(line.row['id'], line.row['workspace_id']);
      else if ('remove' in line && (line.remove === 'projects' || line.remove === 'workspaces')) {
        // As in the catalog: removing a project removes its files.
        const id = line.row['id'];
        for (const [key, { project }] of manifest) {
          if (project === id || (line.remove === 'workspaces' && workspaceOf.get(project) === id)) manifest.delete(key);
        }
      }
    }
  }
  return { last: records.at(-1)!.publication, manifest: [...manifest.values()] };
}
