// Removes from package-lock.json which Node each package asks for; run it after adding or updating a package.
// `npm ci` compares that with the Node that npm itself runs on, and warns of every package that asks for a later one.
// Here packages run on the pinned Node only; test/package.test.ts makes the comparison with that one.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8')) as {
  packages: Record<string, { engines?: unknown; optional?: true }>;
};
for (const [name, entry] of Object.entries(lock.packages)) {
  // The entry without a name is this project's own. Optional packages that do not fit are left out without a warning.
  if (name !== '' && !entry.optional) delete entry.engines;
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
