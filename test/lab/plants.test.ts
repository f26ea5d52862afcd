// Every fault that the simulation plants still fits into the code.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PLANTS } from '../../lab/simulate/plants.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('every planted fault stands in the code that it changes', async (t) => {
  for (const { name, file, find } of PLANTS) t.ok(readFileSync(join(ROOT, file), 'utf8').includes(find), name);
});
