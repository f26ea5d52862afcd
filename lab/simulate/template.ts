import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../../test/random.ts';
import { type Tables, writeTables } from '../tables.ts';
import { type Product as AllOfIt, GLOBALS, type Program, requirePackage } from './bundle.ts';
import { chosenBy } from './modules/crypto.ts';
import type { Run } from './world.ts';

type Product = typeof AllOfIt;

/** The product on the real machine: to prepare data folders, whose ids are the same in each process. */
function realProduct(program: Program, name: string): Product {
  const asIs = <T>(value: T): T => value;
  const simulated = { catalog: asIs, leases: asIs, usage: asIs };
  const globals = Object.fromEntries(GLOBALS.map((name) => [name, Reflect.get(globalThis, name) as unknown]));
  const crypto = chosenBy(new Random(0).fork(name));
  return program((wanted) => (wanted === 'node:crypto' ? crypto : requirePackage(wanted)), {
    ...globals,
    simulated,
  } as Parameters<Program>[1]);
}

export const CONNECTION = {
  kind: 'search-console',
  credentials: null,
  endpoint: null,
  tokenEndpoint: null,
  grant: null,
  dataset: null,
  location: null,
  archive: 'none',
} as const;

export interface Template {
  readonly folder: string;
  /** The name of the database of its catalog; undefined for SQLite. */
  readonly database: string | undefined;
  /** Keys of the workspace `acme`. */
  readonly keys: readonly [string, string];
}

const templates = new Map<string, Promise<Template>>();

/**
 * A data folder with the rows of some tables, made once: worlds begin with a copy of it.
 * @param more further changes of its catalog
 */
export function template(
  run: Pick<Run, 'program' | 'databases'>,
  name: string,
  tables: Tables,
  more: (product: Product, catalog: Awaited<ReturnType<Product['openCatalog']>>) => Promise<void> = async () => {},
): Promise<Template> {
  const known = templates.get(name) ?? make(run, name, tables, more);
  templates.set(name, known);
  return known;
}

async function make(
  { program, databases }: Pick<Run, 'program' | 'databases'>,
  name: string,
  tables: Tables,
  more: NonNullable<Parameters<typeof template>[3]>,
): Promise<Template> {
  const product = realProduct(program, name);
  const root = mkdtempSync(join(tmpdir(), 'ordinate-template-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'data');
  mkdirSync(join(folder, 'temporary'), { recursive: true });
  const database = databases && `template_${name}`;
  const settings = product.readSettings({
    ORDINATE_DATA: folder,
    ORDINATE_THREADS: '1',
    ...(database === undefined ? {} : { ORDINATE_CATALOG: await databases!.create(database) }),
  });
  const catalog = await product.openCatalog(settings);
  writeTables(join(root, 'rows'), tables);
  await product.loadSnapshot({ settings, catalog }, { folder: join(root, 'rows'), acceptImplausible: true });
  await more(product, catalog);
  const createKey = async (name: string): Promise<string> =>
    (await product.createKey(catalog, { workspace: 'acme', name, at: 0 })).key;
  const keys = [await createKey('a'), await createKey('b')] as const;
  await catalog.close();
  await databases?.watch(database!);
  return { folder, database, keys };
}
