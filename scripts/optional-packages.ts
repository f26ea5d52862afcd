// Makes the optional packages dependencies, in package.json, so that `npm prune --omit=dev` keeps them: the image has all.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: object;
}

const path = join(import.meta.dirname, '../package.json');
const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta: _, ...rest } = manifest;
for (const name of Object.keys(peerDependencies)) delete devDependencies[name];
const moved = { ...rest, dependencies: { ...dependencies, ...peerDependencies }, devDependencies };
writeFileSync(path, `${JSON.stringify(moved, null, 2)}\n`);
