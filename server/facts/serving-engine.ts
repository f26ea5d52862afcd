import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Engine, type EngineOptions } from './engine.ts';

type Options = Pick<EngineOptions, 'memoryLimit' | 'threads'> & { readonly dataFolder: string };

/** Opens an engine over the facts and lists of a data folder. `close` also removes what DuckDB had put aside. */
export async function openServingEngine(options: Options): Promise<{ engine: Engine; close: () => Promise<void> }> {
  const { dataFolder, memoryLimit, threads } = options;
  const temporaryFolder = join(dataFolder, 'temporary', `${hostname()}-${process.pid}`);
  const folders = [join(dataFolder, 'facts'), join(dataFolder, 'lists')];
  const engine = await Engine.open({ memoryLimit, threads, temporaryFolder, folders });
  const close = async (): Promise<void> => {
    engine.close();
    await rm(temporaryFolder, { recursive: true, force: true });
  };
  return { engine, close };
}
