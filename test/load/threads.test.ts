// A load of few rows uses one thread of DuckDB; one that writes several files leaves a processor to the other file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Engine } from '../../server/facts/duckdb/engine.ts';
import { threadsToWrite } from '../../server/load/part-files.ts';
import { areSmall } from '../../server/load/staged-parts.ts';
import { temporaryFolder } from '../world.ts';

const engine = { threads: 4 } as Engine;

/** Parts with so many staged and stored rows. */
function threadsOf(...parts: readonly (readonly [staged: number, stored: number])[]): number {
  const planned = parts.map(([staged, stored]) => ({ staged: { rows: staged }, current: { rows: stored } }));
  return threadsToWrite(engine, planned as never);
}

t.test('threads that write', async (t) => {
  t.equal(threadsOf([100, 0], [100, 0]), 1);
  t.equal(threadsOf([61_440, 0]), 1);
  t.equal(threadsOf([1, 61_440]), 4, 'stored rows are read, too, and the one file is written alone');
  t.equal(threadsOf([50_000, 0], [50_000, 0]), 3);
  t.equal(threadsOf([50_000, 0], [50_000, 50_000]), 4, 'the larger one is written alone in the end');
  t.equal(threadsToWrite(engine, []), 1);
});

t.test('files of few rows', async (t) => {
  const folder = temporaryFolder(t);
  const files = ['a', 'b'].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, Buffer.alloc(1_000_001));
  t.ok(areSmall(files.slice(1)));
  t.notOk(areSmall(files), 'together they have many');
  t.ok(areSmall([]));
});
