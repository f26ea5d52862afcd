// Removes the Node versions that packages require from package-lock.json; run it after adding or updating a package.
// `npm ci` compares them with the Node that npm itself runs on, and warns about each package that requires a later one.
// Packages run on the pinned Node only; test/package.test.ts compares them with that one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8')) as {
  packages: Record<string, { engines?: unknown; optional?: true }>;
};
for (const [name, entry] of Object.entries(lock.packages)) {
  // The entry without a name is this project. Optional packages that do not fit are skipped without a warning.
  if (name !== '' && !entry.optional) delete entry.engines;
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
