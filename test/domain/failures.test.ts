// A full disk, a locked database or a missing resource is recognised in the errors of every library.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { classifyFailure } from '../../server/domain/failures.ts';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { temporaryFolder } from '../world.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

t.test('failures of SQLite', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.sqlite');
  const open = (path: string, options = {}): DatabaseSync => {
    const db = new DatabaseSync(path, { timeout: 0, ...options });
    t.teardown(() => db.close());
    return db;
  };
  const db = open(file);
  db.exec('create table x (text)');
  t.equal(classifyFailure(thrownBy(() => open(join(folder, 'none', 'b.sqlite')))), 'cannot-open');
  t.equal(classifyFailure(thrownBy(() => open(file, { readOnly: true }).exec('delete from x'))), 'read-only');
  db.exec('pragma max_page_count = 3');
  t.equal(classifyFailure(thrownBy(() => db.exec('insert into x values (zeroblob(100000))'))), 'disk-full');
  db.exec('begin exclusive');
  t.equal(classifyFailure(thrownBy(() => open(file).exec('delete from x'))), 'busy');
  t.equal(classifyFailure(thrownBy(() => db.exec('no sql'))), undefined, 'a mistake of ours');
});

async function failureOf(t: Test, text: string): Promise<unknown> {
  const folder = temporaryFolder(t);
  const temporary = { temporaryFolder: join(folder, 'temporary'), folders: ['/proc', folder] };
  const engine = await Engine.open({ memoryLimit: '10MB', threads: 1, ...temporary });
  t.teardown(() => engine.close());
  using session = await engine.session();
  return await session.run(text).then(
    () => 'nothing',
    (error: unknown) => error,
  );
}

t.test('failures of DuckDB', async (t) => {
  const huge = "select list(range::varchar || repeat('x', 100)) from range(1_000_000)";
  t.equal(classifyFailure(await failureOf(t, huge)), 'out-of-memory');
  t.equal(classifyFailure(await failureOf(t, 'no sql')), undefined, 'a mistake of ours');
  const words: readonly (readonly [string, string | undefined])[] = [
    ['Could not write file "/data/lists/a.parquet": No space left on device', 'disk-full'],
    ['Could not write file "/data/lists/a.parquet": File too large', 'disk-full'],
    ['Cannot open file "/data/facts/a.parquet": Too many open files\n\nLINE 1: select sum(clicks)', 'too-many-files'],
    ['Failed to create directory "/data/temporary": Read-only file system', 'read-only'],
    ['Cannot open file "/data/facts/a.parquet": Permission denied', 'read-only'],
    ['Could not read from file "/data/facts/a.parquet": Input/output error', 'disk-error'],
    ['Cannot open file "/data/facts/a.parquet": No such file or directory', undefined],
    ['Cannot open file "/data/Too many open files/a.parquet": No such file or directory', undefined],
    ['Cannot open file "/data/temporary/x/duckdb_temp_storage-0.tmp": No such file or directory', 'cannot-open'],
    ['No files found that match the pattern "/data/cache/processes/x/a.parquet"', 'cannot-open'],
    ['No files found that match the pattern "/data/facts/a.parquet"', undefined],
  ];
  for (const [text, kind] of words) t.equal(classifyFailure(new Error(`IO Error: ${text}`)), kind, text);
});

t.test('failures of the system, also as the cause of another', async (t) => {
  const failed = (code: string): Error => Object.assign(new Error(code), { code });
  for (const [code, kind] of [
    ['ENOSPC', 'disk-full'],
    ['EMFILE', 'too-many-files'],
    ['EROFS', 'read-only'],
    ['EACCES', 'read-only'],
    ['EIO', 'disk-error'],
    ['ENOENT', undefined],
    ['ECONNRESET', undefined],
  ] as const) {
    t.equal(classifyFailure(failed(code)), kind, code);
    t.equal(classifyFailure(new Error('the list was not stored', { cause: failed(code) })), kind, code);
  }
  t.equal(classifyFailure('ENOSPC'), undefined);
  t.equal(classifyFailure(undefined), undefined);
});
