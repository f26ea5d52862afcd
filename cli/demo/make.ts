import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { type DemoPart, writeDemoSnapshot } from './snapshot.ts';

/** Milliseconds after which a statement needs no more of this thread until it ends. */
const PREPARED_AFTER = 20;
/** Statements that run at a time: most of them use one processor. */
const AT_ONCE = 2;

interface MakeOptions {
  readonly report?: (step: string) => void;
  readonly part?: DemoPart;
  /** Called during the longest statement, for which this process only waits. */
  readonly beside?: (() => void) | undefined;
}

/** Writes the demo snapshot (see `writeDemoSnapshot`) with a new engine. */
export async function makeDemoSnapshot(
  { memoryLimit, threads }: Pick<Settings, 'memoryLimit' | 'threads'>,
  folder: string,
  now: number,
  { report = () => {}, part = 'all', beside }: MakeOptions = {},
): Promise<void> {
  const engine = await Engine.open({
    memoryLimit,
    // Few rows keep one thread busy. Others would wait busily, and take a processor from what runs beside.
    threads: part === 'newest' ? 1 : threads,
    temporaryFolder: `${folder}-memory`,
    folders: [folder],
  });
  const limit = pLimit(AT_ONCE);
  const run = (name: string, parameters: Readonly<Record<string, string | number>>) =>
    limit(async () => {
      using session = await engine.session();
      const running = session.runFile(join('demo', name), parameters);
      if (name === 'base') void setTimeout(PREPARED_AFTER).then(beside);
      await running;
    });
  try {
    await writeDemoSnapshot(folder, now, run, report, part);
  } finally {
    await engine.close();
  }
}
