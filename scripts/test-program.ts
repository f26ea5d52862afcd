import { globSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
/** Below `node_modules`, so that packages are found from there. */
const FOLDER = join(ROOT, 'node_modules/.cache/program');
/** The programs that processes start. */
const COMMAND = 'cli/ordinate.ts';
const CAGE = 'server/sandbox/cage.ts';
const PROGRAMS = [COMMAND, CAGE, 'server/workers/server-process.ts'];
/** With native code, found by paths, or optional: these stay packages. */
const PACKAGES = [
  '@duckdb/node-bindings',
  '@aws-sdk/*',
  '@fastify/otel',
  '@google-cloud/*',
  '@googleapis/*',
  '@opentelemetry/*',
  '@redis/client',
  '@scalar/*',
  'esbuild',
  'google-auth-library',
  'pg-native',
  'pino',
];

const compiledOf = (path: string): string => join(FOLDER, path.slice(ROOT.length + 1).replace(/\.ts$/, '.mjs'));

/** Files that a module opens are beside its source; programs that it starts are compiled, too. */
const paths: Plugin = {
  name: 'paths',
  setup(bundle) {
    bundle.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const url = (file: string): string => JSON.stringify(pathToFileURL(file).href);
      const contents = (await readFile(path, 'utf8'))
        .replaceAll(/new URL\('(\.[^']*\.ts)', import\.meta\.url\)/g, (text, to: string) => {
          const file = resolve(dirname(path), to);
          return PROGRAMS.includes(file.slice(ROOT.length + 1)) ? `new URL(${url(compiledOf(file))})` : text;
        })
        .replaceAll('import.meta.url', url(path))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.filename', JSON.stringify(path))
        .replaceAll('import.meta.main', 'false');
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Compiles the command line with its packages into a few files, for the processes that tests start: finding and loading
 * 1,700 modules takes a third of the start of a server, and the process of a statement starts in a third of the time.
 * Returns the environment that names the programs.
 */
export async function buildTestProgram(): Promise<NodeJS.ProcessEnv> {
  const { metafile } = await build({
    entryPoints: PROGRAMS,
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    external: PACKAGES,
    keepNames: true,
    metafile: true,
    logLevel: 'error',
    // Without it, Node would read each file twice to know what it is.
    outExtension: { '.js': '.mjs' },
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [paths],
  });
  for (const file of globSync(`${FOLDER}/**/*.mjs`)) if (!(relative(ROOT, file) in metafile.outputs)) rmSync(file);
  return { TEST_PROGRAM: compiledOf(join(ROOT, COMMAND)), TEST_CAGE: compiledOf(join(ROOT, CAGE)) };
}
