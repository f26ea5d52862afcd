import { join } from 'node:path';
import { Engine, type EngineOptions } from './engine.ts';

type Options = Omit<EngineOptions, 'folders'> & { readonly dataFolder: string };

/** Opens an engine over the facts and lists of a data folder. */
export function openServingEngine({ dataFolder, ...options }: Options): Promise<Engine> {
  return Engine.open({ ...options, folders: [join(dataFolder, 'facts'), join(dataFolder, 'lists')] });
}
