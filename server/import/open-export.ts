import { join } from 'node:path';
import { Engine, type Session } from '../facts/duckdb/engine.ts';
import type { Stores } from '../load/stores.ts';
import { patternOf } from '../runtime/patterns.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import { storageFolders } from '../storage/open-file-store.ts';
import { findFiles, type SourceFile } from './files.ts';
import { refuseOtherProperty } from './property.ts';

interface ExportSource {
  /** Files, or folders of them. */
  readonly paths: readonly string[];
  readonly property: string;
  /** Allows exports of other properties. */
  readonly force?: boolean;
}

interface OpenExport extends AsyncDisposable {
  readonly files: readonly SourceFile[];
  /** A folder for temporary files. */
  readonly folder: string;
  /** May read the files, and what a load needs. */
  readonly session: Session;
}

/** Opens the files of an export. Throws `ImportRefused` for files that cannot be read and those of another property. */
export async function openExport(
  settings: Stores['settings'],
  { paths, property, force }: ExportSource,
): Promise<OpenExport> {
  const { dataFolder, memoryLimit, threads } = settings;
  await using opening = new AsyncDisposableStack();
  const temporary = await ProcessFolder.take(join(dataFolder, 'temporary'));
  opening.defer(() => temporary.remove());
  const files = await findFiles(paths, temporary.path);
  if (!force) refuseOtherProperty(files, property);
  const sources = files.flatMap(({ path }) => [folderOf(path), patternOf(folderOf(path))]);
  const folders = [...new Set(sources), join(dataFolder, 'staging'), ...storageFolders(settings), temporary.path];
  const engine = opening.adopt(
    await Engine.open({ memoryLimit, threads, temporaryFolder: join(temporary.path, 'memory'), folders }),
    (it) => it.close(),
  );
  const session = opening.use(await engine.session());
  const opened = opening.move();
  return { files, folder: temporary.path, session, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
