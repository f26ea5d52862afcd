// Writes the files of the package to dist/: compiled JavaScript, the SQL files and the other files that the server reads.
// Node does not strip types below node_modules, so an installed package cannot hold TypeScript.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDashboard } from '../cli/dashboard.ts';
import { BUNDLED, bundlePackages, bundleReference, writeLicenses } from './bundles.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** What may name packages for development: one is bundled with its package, the other runs in a checkout only. */
const UNCHECKED = [...BUNDLED, 'cli/dashboard'].map((name) => `${name}.js`);

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
};
const packages = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);

rmSync(DIST, { recursive: true, force: true });
// Only the client needs types, because programs import it.
for (const project of ['tsconfig.build.json', 'tsconfig.client.json']) {
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', project], { cwd: ROOT, stdio: 'inherit' });
}

// The compiler rewrites the paths of imports, but not those of files that are opened by URL, such as workers.
for (const file of globSync('**/*.js', { cwd: DIST })) {
  const path = join(DIST, file);
  const text = readFileSync(path, 'utf8');
  const rewritten = text.replaceAll(/(new URL\('\.{1,2}\/[^']*)\.ts(', import\.meta\.url\))/g, '$1.js$2');
  if (rewritten !== text) writeFileSync(path, rewritten);
  const left = /(['"`])\.{1,2}\/[^'"`\s]*\.ts\1/.exec(rewritten);
  if (left) throw new Error(`dist/${file} names the TypeScript file ${left[0]}, which is not in the package.`);
  for (const [, name = ''] of rewritten.matchAll(/(?:from|import|import\() ?'((?:@[\w-]+\/)?[\w-][\w.-]*)[^':]*'/g)) {
    if (!UNCHECKED.includes(file) && !packages.has(name)) {
      throw new Error(`dist/${file} imports ${name}, which is for development: bundle it, or make it a dependency.`);
    }
  }
}

// `npm pack ./dist/client` makes the package of the client.
cpSync(join(ROOT, 'client'), join(DIST, 'client'), { recursive: true, filter: (source) => !source.endsWith('.ts') });
cpSync(join(ROOT, 'LICENSE'), join(DIST, 'client/LICENSE'));

const { sources } = await buildDashboard();
writeLicenses([...sources, ...(await bundlePackages()), ...(await bundleReference())]);
const client = join(ROOT, 'server/dashboard/client');
cpSync(join(ROOT, 'server'), join(DIST, 'server'), {
  recursive: true,
  filter: (source) => !source.endsWith('.ts') && source !== client,
});
// The guide is served from here.
for (const page of globSync('docs/*.md', { cwd: ROOT })) cpSync(join(ROOT, page), join(DIST, page));
cpSync(join(ROOT, 'sql'), join(DIST, 'sql'), {
  recursive: true,
  filter: (source) => source !== join(ROOT, 'sql/bench'),
});
