// Writes the files of the package to dist/: compiled JavaScript, the SQL files and the other files that the server reads.
// Node does not strip types below node_modules, so an installed package cannot hold TypeScript.
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDashboard } from './dashboard.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

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
}

await buildDashboard();
const client = join(ROOT, 'server/dashboard/client');
cpSync(join(ROOT, 'server'), join(DIST, 'server'), {
  recursive: true,
  filter: (source) => !source.endsWith('.ts') && source !== client,
});
// The guide is served from here.
cpSync(join(ROOT, 'docs'), join(DIST, 'docs'), { recursive: true });
cpSync(join(ROOT, 'sql'), join(DIST, 'sql'), {
  recursive: true,
  filter: (source) => source !== join(ROOT, 'sql/bench'),
});
