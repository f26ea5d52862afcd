import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { unavailable } from '../domain/errors.ts';

/** A file of the dashboard, as it is sent in each encoding. */
export interface Asset {
  readonly type: string;
  readonly encoded: Readonly<Record<'identity' | 'gzip' | 'br', Buffer>>;
}

export interface Assets {
  /** The page that loads the others. */
  readonly page: string;
  /** By name, which changes with the content. */
  readonly files: ReadonlyMap<string, Asset>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where `npm run build` puts the page and its files. */
export const DIST = new URL('./dist/', import.meta.url);

/** Reads what was built. Throws `unavailable` where nothing was. */
export async function readAssets(): Promise<Assets> {
  let page: string;
  try {
    page = await readFile(new URL('index.html', DIST), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const message = 'The dashboard has not been built: run `npm run build`, or start the server with `npm start`.';
    throw unavailable(message, 'other');
  }
  const names = (await readdir(DIST)).filter((name) => extname(name) in TYPES);
  const files = await Promise.all(
    names.map(async (name): Promise<[string, Asset]> => {
      const [identity, gzip, br] = await Promise.all(
        ['', '.gz', '.br'].map((suffix) => readFile(new URL(name + suffix, DIST))),
      );
      return [name, { type: TYPES[extname(name)]!, encoded: { identity: identity!, gzip: gzip!, br: br! } }];
    }),
  );
  return { page, files: new Map(files) };
}
