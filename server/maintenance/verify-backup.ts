import type { StoredFile } from '../storage/file-store.ts';
import { megabytes } from './copy-files.ts';
import { readIndexes } from './index-file.ts';
import { openBackup } from './target.ts';

interface BackupProblem {
  /** In the target. */
  readonly file: string;
  /** What is wrong, with the full name of the file. */
  readonly message: string;
  /** The ids of the backups that cannot be restored because of it. */
  readonly backups: readonly string[];
}

export interface BackupVerifyReport {
  readonly ok: boolean;
  readonly backups: number;
  readonly files: number;
  readonly bytes: number;
  readonly problems: readonly BackupProblem[];
}

/** Compares all files of all backups of a target with their hashes, each file once. */
export async function verifyBackup(
  path: string,
  report: (step: string) => void = () => {},
): Promise<BackupVerifyReport> {
  using target = await openBackup(path);
  const { store } = target;
  const { indexes, damaged } = await readIndexes(store);
  const problem = (file: string, damage: string, backups: readonly string[]): BackupProblem => {
    return { file, message: `'${store.address}/${file}' is damaged: ${damage}.`, backups };
  };
  const problems = damaged.map(({ id, file, damage }) => problem(file, damage, [id]));
  const files = new Map<string, StoredFile & { readonly backups: string[] }>();
  for (const { id, catalog, lost = [], files: ofBackup } of indexes) {
    for (const file of lost) {
      const message = `'${store.address}' has no '${file}' in the backup ${id}: it was damaged or missing when the backup was made. All other files can be restored.`;
      problems.push({ file, message, backups: [id] });
    }
    for (const file of [catalog, ...ofBackup]) {
      const known = files.get(file.file) ?? { ...file, backups: [] };
      known.backups.push(id);
      files.set(file.file, known);
    }
  }
  const bytes = [...files.values()].reduce((sum, file) => sum + file.bytes, 0);
  let done = 0;
  let doneBytes = 0;
  for (const file of files.values()) {
    const damage = await store.damageOf(file);
    if (damage !== undefined) problems.push(problem(file.file, damage, file.backups));
    done++;
    doneBytes += file.bytes;
    report(`comparing files: ${done} of ${files.size}, ${megabytes(doneBytes)} of ${megabytes(bytes)} MB`);
  }
  const ok = problems.length === 0 && indexes.length > 0;
  return { ok, backups: indexes.length, files: files.size, bytes, problems };
}
