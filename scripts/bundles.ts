// What an installed package needs of packages for development, as files of dist/, and the licenses of all that is bundled.
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Files that import a package for development, and are bundled with it. */
export const BUNDLED = ['server/mcp/protocol', 'server/api/plugins/marked'];

/** Bundles the protocol of MCP and the reader of Markdown. Returns the paths of what is in them. */
export async function bundlePackages(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: BUNDLED.map((name) => join(ROOT, `${name}.ts`)),
    absWorkingDir: ROOT,
    outdir: DIST,
    outbase: ROOT,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    minify: true,
    legalComments: 'eof',
    metafile: true,
    logLevel: 'warning',
  });
  return Object.keys(metafile.inputs).map((path) => join(ROOT, path));
}

/** Writes the script of the reference page. Returns the path of its package. */
export async function bundleReference(): Promise<string[]> {
  const worker = new Worker(new URL('../server/api/plugins/docs-bundle.ts', import.meta.url));
  const [script] = (await once(worker, 'message')) as [Uint8Array];
  writeFileSync(join(DIST, 'server/api/plugins/reference.js.br'), brotliCompressSync(script));
  return [join(ROOT, 'node_modules/@scalar/fastify-api-reference/package.json')];
}

/** Writes `LICENSES.txt`. @param sources the paths of everything that was bundled */
export function writeLicenses(sources: readonly string[]): void {
  const folders = sources.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const texts = [...new Set(folders)].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const files = globSync('{LICEN[CS]E,NOTICE,COPYING}*', { cwd: folder }).sort();
    if (license === undefined && files.length === 0) throw new Error(`${name} has no license.`);
    const title = `${name} ${version}${license === undefined ? '' : ` (${license})`}`;
    return [title, ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim())].join('\n\n');
  });
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  const head = 'Ordinate contains these packages, in whole or in part.';
  writeFileSync(join(DIST, 'LICENSES.txt'), `${[head, ...texts.sort()].join(rule)}\n`);
}
