import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { build } from 'esbuild';
import type { Plant } from './plants.ts';
import type * as Product from './product.ts';

export type { Product };

const FOLDER = dirname(fileURLToPath(import.meta.url));
/** The folder of the product. */
export const ROOT = join(FOLDER, '../..');
/** Names of Node that the code uses without importing them, and that a process of the simulation has of its own. */
export const GLOBALS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
  'Math',
  'performance',
  'AbortSignal',
  'fetch',
  'simulated',
] as const;
/** Packages with native code, or without state that matters here. All others wait on the simulated clock. */
const EXTERNAL = [
  '@aws-sdk/*',
  '@duckdb/*',
  '@fastify/*',
  '@google-cloud/*',
  '@googleapis/*',
  '@modelcontextprotocol/*',
  '@opentelemetry/*',
  '@redis/*',
  '@scalar/*',
  'apache-arrow',
  'esbuild',
  'fastify',
  'google-auth-library',
  'marked',
  'pg',
  'pino',
  'prom-client',
  're2js',
  'typebox',
  'typebox/*',
];
/** How both bundles are made. */
const COMMON = {
  bundle: true,
  write: false,
  format: 'cjs',
  platform: 'node',
  target: 'node26',
  logLevel: 'warning',
} as const;
/** Modules that open what processes share: the simulation wraps what they open. */
const WRAPPED = /server\/catalog\/open-(catalog|leases|usage)\.ts$/;

/** Parts of the server that no world asks for: they would only make each start of a server longer. */
const LEFT_OUT = /server\/(api\/feeds|api\/plugins\/documentation|dashboard\/dashboard|mcp\/mcp)\.ts$/;

type Compiled<Exports> = (
  require: (name: string) => unknown,
  globals: Readonly<Record<(typeof GLOBALS)[number], unknown>>,
) => Exports;
export type Program = Compiled<typeof Product>;
export type Driver = Compiled<object>;

/**
 * The product as one function: each call is a new process with memory of its own, whose modules of Node, clock and packages
 * are those that the caller passes.
 * @param plants faults to put into the code
 */
export async function bundle(plants: readonly Plant[] = []): Promise<Program> {
  const planted = new Set<Plant>();
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, 'product.ts')],
    ...COMMON,
    external: EXTERNAL,
    // Packages are asked of the process, also where they are imported later.
    supported: { 'dynamic-import': false },
    plugins: [
      {
        name: 'simulated',
        setup(builder) {
          builder.onResolve({ filter: /^real:/ }, ({ path }) => ({
            path: path.slice('real:'.length),
            namespace: 'real',
          }));
          const load = async (path: string): Promise<string> => {
            let text = await readFile(path, 'utf8');
            for (const plant of plants) {
              if (join(ROOT, plant.file) !== path) continue;
              if (!text.includes(plant.find))
                throw new Error(`${plant.name}: ${plant.file} has changed; mend the plant.`);
              text = text.replace(plant.find, () => plant.replace);
              planted.add(plant);
            }
            return text
              .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
              .replaceAll('import.meta.filename', JSON.stringify(path))
              .replaceAll('import.meta.main', 'false');
          };
          builder.onLoad({ filter: /.*/, namespace: 'real' }, async ({ path }) => ({
            contents: await load(path),
            loader: 'ts',
            resolveDir: dirname(path),
          }));
          builder.onLoad({ filter: LEFT_OUT }, () => ({
            contents:
              'const leaveOut = () => {};\nexport { leaveOut as addFeeds, leaveOut as addDocumentation, leaveOut as addDashboard, leaveOut as addMcp, leaveOut as isDashboardApiAddress };',
          }));
          builder.onLoad({ filter: /server\/.*\.ts$/ }, async ({ path }) => {
            const [, what] = WRAPPED.exec(path) ?? [];
            if (what === undefined) return { contents: await load(path), loader: 'ts' };
            const name = `open${what[0]!.toUpperCase()}${what.slice(1)}`;
            const contents = `import { ${name} as open } from ${JSON.stringify(`real:${path}`)};\nexport const ${name} = (...given) => simulated.${what}(open(...given));`;
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  const missing = plants.find((plant) => !planted.has(plant));
  if (missing !== undefined) throw new Error(`${missing.name}: the simulation does not use ${missing.file}.`);
  return compile<typeof Product>(outputFiles[0]!.text);
}

/** The driver of PostgreSQL, in the same way: its time limits are those of the process. */
export async function bundleDriver(): Promise<Driver> {
  const { outputFiles } = await build({
    stdin: { contents: "module.exports = require('pg')", resolveDir: ROOT },
    ...COMMON,
    external: ['pg-native', 'pg-cloudflare'],
  });
  return compile<object>(outputFiles[0]!.text);
}

function compile<Exports extends object>(text: string): Compiled<Exports> {
  const run = compileFunction(text, ['require', 'module', 'exports', ...GLOBALS]) as (...given: unknown[]) => void;
  return (require, globals) => {
    const module = { exports: {} };
    run(require, module, module.exports, ...GLOBALS.map((name) => globals[name]));
    return module.exports as Exports;
  };
}

/** Loads packages as the product does. */
export const requirePackage = createRequire(join(ROOT, 'server', 'main.ts'));
