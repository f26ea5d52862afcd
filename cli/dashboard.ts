// Builds the dashboard: `server/dashboard/client` into `server/dashboard/dist`, which is not in git.
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { Metafile, Plugin } from 'esbuild';
import { DIST } from '../server/dashboard/assets.ts';

const CLIENT = join(import.meta.dirname, '../server/dashboard/client');
const TARGET = fileURLToPath(DIST);
const PAGE = join(TARGET, 'index.html');
const ESBUILD = join(import.meta.dirname, '../node_modules/esbuild');
const BUILD_FIRST = `This checkout lacks the packages for development, without which only what was built runs. Build it first:
  npm ci
  npm run build
  npm prune --omit=dev
  bin/ordinate serve`;

/** A file of the dashboard, with the bytes of its content as built and compressed. */
interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzip: number;
  readonly brotli: number;
}

export interface BuiltDashboard {
  /** Loaded before the first screen shows. */
  readonly first: readonly BuiltFile[];
  /** Loaded when a screen needs them. */
  readonly later: readonly BuiltFile[];
  /** The paths of what was bundled. */
  readonly sources: readonly string[];
}

/**
 * Builds the dashboard where that was not done, or its sources are newer. An installed package comes with it.
 * Throws in a checkout without the packages for development, from which sources cannot run.
 */
export async function ensureDashboard(): Promise<void> {
  if (!existsSync(CLIENT)) return;
  if (!existsSync(ESBUILD)) throw new Error(BUILD_FIRST);
  if (isStale()) await buildDashboard();
}

function isStale(): boolean {
  if (!existsSync(PAGE)) return true;
  const built = statSync(PAGE).mtimeMs;
  // Not globSync, which would take a fortieth of each start.
  const names = readdirSync(CLIENT, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.(tsx?|css|svg)$/.test(name)).map((name) => join(CLIENT, name));
  const sources = [...files, import.meta.filename];
  return sources.some((file) => statSync(file).mtimeMs > built);
}

/** Bundles, compresses and writes all files; the page, which names the others, last. */
export async function buildDashboard(): Promise<BuiltDashboard> {
  const { build, stop } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [join(CLIENT, 'main.tsx')],
    absWorkingDir: CLIENT,
    outdir: TARGET,
    publicPath: '/app/static',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'file' },
    minify: true,
    legalComments: 'eof',
    metafile: true,
    write: false,
    logLevel: 'warning',
    plugins: [oneFirstFile()],
  });
  // Its process would stay for as long as this one.
  await stop();
  mkdirSync(TARGET, { recursive: true });
  const built = await Promise.all(outputFiles.map(({ path, contents }) => write(basename(path), contents)));
  const { scripts, styles, icon } = entryFiles(metafile);
  // In one go: a server may be reading it.
  const unfinished = `${PAGE}.${process.pid}`;
  writeFileSync(unfinished, pageOf({ scripts, styles, icon }));
  renameSync(unfinished, PAGE);
  const names = new Set([basename(PAGE), ...built.flatMap(({ name }) => [name, `${name}.gz`, `${name}.br`])]);
  for (const name of readdirSync(TARGET)) if (!names.has(name) && !name.includes('.html.')) rmSync(join(TARGET, name));
  const first = new Set([...scripts, ...styles]);
  return {
    first: built.filter(({ name }) => first.has(name)),
    later: built.filter(({ name }) => !first.has(name) && name !== icon),
    sources: Object.keys(metafile.inputs).map((path) => join(CLIENT, path)),
  };
}

/**
 * What comes later also imports all that comes first, which is there by then. Otherwise the first screen would be 33 files:
 * one for each set of screens that share something with it.
 */
function oneFirstFile(): Plugin {
  const sources = globSync('**/*.ts*', { cwd: CLIENT }).map((name) => join(CLIENT, name));
  const later = new Set(
    sources.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/import\('(\..*?)'\)/g)].map(([, name = '']) =>
        join(dirname(path), name),
      ),
    ),
  );
  return {
    name: 'one first file',
    setup(bundle) {
      bundle.onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        if (!later.has(path)) return undefined;
        const contents = `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(join(CLIENT, 'app.tsx'))};`;
        return { contents, loader: 'tsx' };
      });
    },
  };
}

async function write(name: string, content: Uint8Array): Promise<BuiltFile> {
  const [zipped, brotli] = await Promise.all([
    promisify(gzip)(content, { level: 9 }),
    promisify(brotliCompress)(content),
  ]);
  writeFileSync(join(TARGET, name), content);
  writeFileSync(join(TARGET, `${name}.gz`), zipped);
  writeFileSync(join(TARGET, `${name}.br`), brotli);
  return { name, bytes: content.byteLength, gzip: zipped.byteLength, brotli: brotli.byteLength };
}

interface EntryFiles {
  /** The program, then the parts that it cannot begin without. */
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  readonly icon: string;
}

function entryFiles({ outputs }: Metafile): EntryFiles {
  const all = Object.entries(outputs);
  const [program, { cssBundle } = {}] = all.find(([, { entryPoint }]) => entryPoint === 'main.tsx') ?? [];
  const icon = all.find(([name]) => name.endsWith('.svg'))?.[0];
  if (program === undefined || cssBundle === undefined || icon === undefined) {
    throw new Error('The dashboard lacks its program, style or icon.');
  }
  const scripts = new Set([program]);
  for (const name of scripts) {
    for (const { path, kind } of outputs[name]!.imports) if (kind === 'import-statement') scripts.add(path);
  }
  return { scripts: [...scripts].map((path) => basename(path)), styles: [basename(cssBundle)], icon: basename(icon) };
}

function pageOf({ scripts: [program = '', ...parts], styles, icon }: EntryFiles): string {
  const at = (name: string): string => `/app/static/${name}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Ordinate</title>
<link rel="icon" type="image/svg+xml" href="${at(icon)}">
${styles.map((name) => `<link rel="stylesheet" href="${at(name)}">`).join('\n')}
${parts.map((name) => `<link rel="modulepreload" href="${at(name)}">`).join('\n')}
<script type="module" src="${at(program)}"></script>
</head>
<body>
<noscript>The dashboard needs JavaScript. The API answers without: see <a href="/docs">/docs</a>.</noscript>
<div id="app"></div>
</body>
</html>
`;
}

if (import.meta.main) {
  const { first, later } = await buildDashboard();
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;
  for (const { name, bytes, gzip: zipped, brotli } of [...first, ...later]) {
    console.log(`${name.padEnd(32)} ${kilobytes(bytes)}, gzip ${kilobytes(zipped)}, brotli ${kilobytes(brotli)}`);
  }
  console.log(`First screen: ${kilobytes(first.reduce((sum, file) => sum + file.gzip, 0))} (gzip)`);
}
