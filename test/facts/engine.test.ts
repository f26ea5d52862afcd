// Concurrent and interrupted DuckDB queries never mix results or weaken the limits of memory and folders.
import { pbkdf2 } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBConnection, type DuckDBMaterializedResult, DuckDBPreparedStatement } from '@duckdb/node-api';
import t from 'tap';
import { shortIdNumber } from '../../server/domain/ids.ts';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { temporaryFolder } from '../world.ts';

const folder = temporaryFolder(t);
const engine = await Engine.open({
  memoryLimit: '256MB',
  threads: 2,
  temporaryFolder: join(folder, 'temporary'),
  folders: [folder],
});
t.teardown(() => engine.close());

type Run = (this: DuckDBPreparedStatement) => Promise<DuckDBMaterializedResult>;

/** A file of days of one keyword with `clicks` each. */
async function write(keyword: string, clicks: number, rows = 1): Promise<string> {
  const target = join(folder, `${keyword}.parquet`);
  using session = await engine.session();
  await session.run(
    `copy (select '${keyword}' as keyword_id, date '2026-03-01' as date, 'all' as device, ${clicks}::bigint as clicks,
      random()::bigint as impressions, 0::bigint as sum_position from range(${rows})) to '${target}' (format parquet)`,
  );
  return target;
}

function parameters(...files: readonly string[]) {
  return { files, device: 'all', from: '2026-03-01', to: '2026-03-31' };
}

/** Rows that take far longer to read than the test runs: a query over them ends only when it is stopped. */
const once = await write('Large', 1, 1_000_000);
const large = Array<string>(200).fill(once);

/** Keeps every thread of the pool busy for a moment. */
function takeThreads(): Promise<unknown> {
  const work = promisify(pbkdf2);
  return Promise.all(Array.from({ length: 16 }, () => work('', '', 20_000, 32, 'sha256')));
}

t.test('concurrent, repeated queries each get their own result', async (t) => {
  const ids = ['Kw001', 'Kw002', 'Kw003', 'Kw004', 'Kw005', 'Kw006'];
  const files = await Promise.all(ids.map((id, index) => write(id, index)));
  for (let time = 0; time < 5; time++) {
    const answers = await Promise.all(
      files.map((file) => engine.query<{ keyword: number; clicks: number }>('facts/keyword_totals', parameters(file))),
    );
    t.strictSame(
      answers.map((rows) => rows.map(({ keyword, clicks }) => [keyword, clicks])),
      ids.map((id, index) => [[shortIdNumber(id), index]]),
    );
  }
});

t.test('a query that failed or was stopped does not affect the next one', async (t) => {
  const small = await write('Small', 7);
  const ask = (files: readonly string[], signal?: AbortSignal) =>
    engine.query<{ clicks: number }>('facts/keyword_totals', parameters(...files), signal);
  await t.rejects(ask([join(folder, 'nothing.parquet')]), /No files found/);
  for (let time = 0; time < 6; time++) {
    const stop = new AbortController();
    // While the query runs, or before DuckDB has started it because all threads are busy: DuckDB ignores an interrupt then.
    const others = time % 2 === 0 ? takeThreads() : undefined;
    const stopped = t.rejects(ask(large, stop.signal), { message: 'The query was stopped.' });
    if (others === undefined) t.equal((await ask([small]))[0]?.clicks, 7);
    stop.abort();
    await Promise.all([stopped, others]);
    t.equal((await ask([small]))[0]?.clicks, 7);
    await t.rejects(ask([small], stop.signal), { message: 'The query was stopped.' });
  }
  t.equal((await ask([once]))[0]?.clicks, 1_000_000);
});

t.test('queries cannot change the limits of folders and memory', async (t) => {
  using session = await engine.session();
  await t.rejects(session.run("set memory_limit = '9GB'"), /locked/);
  await t.rejects(session.run("select * from read_text('/etc/hostname')"), /permission|disabled/i);
});

t.test('a load may use fewer threads than the limit, not more; of several at once, the last one says', async (t) => {
  using session = await engine.session();
  const used = async (): Promise<number | undefined> => {
    const [row] = await session.rows<{ threads: number }>("select current_setting('threads')::double as threads");
    return row?.threads;
  };
  const found: unknown[] = [];
  for (const threads of [1, 0, 9, 2]) {
    await engine.useThreads(threads);
    found.push(await used());
  }
  t.strictSame(found, [1, 1, 2, 2]);
  const failing = t.intercept(DuckDBConnection.prototype, 'run', {
    value: () => Promise.reject(new Error('no thread')),
  });
  await t.rejects(engine.useThreads(1), /no thread/);
  failing.restore();
  t.equal(await used(), 2, 'a failure changes nothing');
  for (let time = 0; time < 50; time++) {
    await Promise.all([1, 2, 1, 2, 1].map((threads) => engine.useThreads(threads)));
    await engine.useThreads(2);
    t.equal(await used(), 2);
  }
});

t.test('few idle statements are pooled, and none that was stopped or failed', async (t) => {
  const engine = await Engine.open({ memoryLimit: '256MB', threads: 2, temporaryFolder: folder, folders: [folder] });
  t.teardown(() => engine.close());
  const file = await write('Small', 7);
  using session = await engine.session();
  const kept = async (): Promise<number> => {
    const [row] = await session.rows<{ count: number }>('from duckdb_connection_count()');
    // Except the connection of this query.
    return (row?.count ?? 0) - 1;
  };
  t.equal(await kept(), 0);
  await t.rejects(engine.query('facts/keyword_totals', parameters(join(folder, 'nothing.parquet'))));
  t.equal(await kept(), 0, 'none that failed');
  const stop = new AbortController();
  const stopped = t.rejects(engine.query('facts/keyword_totals', parameters(...large), stop.signal));
  stop.abort();
  await stopped;
  t.equal(await kept(), 0, 'none that was stopped');
  await engine.query('facts/keyword_totals', parameters(file));
  t.equal(await kept(), 1);
  const ended = new AbortController();
  const answer = engine.query('facts/keyword_totals', parameters(file), ended.signal);
  // The result is ready, and the caller aborts before it gets it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  ended.abort();
  await answer.catch(() => {});
  t.equal(await kept(), 0, 'none whose interrupt may still come');
  await Promise.all(Array.from({ length: 12 }, () => engine.query('facts/keyword_totals', parameters(file))));
  t.equal(await kept(), 4);
});

t.test('a query is interrupted until it ends: DuckDB ignores an interrupt that comes before it starts', async (t) => {
  const large = await write('Stops', 1, 3_000_000);
  const interrupt = Reflect.get(DuckDBConnection.prototype, 'interrupt') as (this: DuckDBConnection) => void;
  let sent = 0;
  t.intercept(DuckDBConnection.prototype, 'interrupt', {
    value: function (this: DuckDBConnection) {
      sent++;
      if (sent > 3) interrupt.call(this);
    },
  });
  // Long enough on any machine.
  const run = Reflect.get(DuckDBPreparedStatement.prototype, 'run') as Run;
  t.intercept(DuckDBPreparedStatement.prototype, 'run', {
    value: async function (this: DuckDBPreparedStatement) {
      for (let time = 0; time < 50; time++) await run.call(this);
      return run.call(this);
    },
  });
  const stop = new AbortController();
  const stopped = engine.query('facts/keyword_totals', parameters(large), stop.signal);
  stop.abort();
  await t.rejects(stopped, { message: 'The query was stopped.' });
  t.ok(sent > 3);
});

t.test('a statement that was interrupted too late is not reused', async (t) => {
  const small = await write('Late1', 7);
  const stop = new AbortController();
  const run = Reflect.get(DuckDBPreparedStatement.prototype, 'run') as Run;
  const statements: DuckDBPreparedStatement[] = [];
  t.intercept(DuckDBPreparedStatement.prototype, 'run', {
    value: async function (this: DuckDBPreparedStatement) {
      statements.push(this);
      const result = await run.call(this);
      if (statements.length === 2) stop.abort();
      return result;
    },
  });
  const ask = (signal?: AbortSignal) =>
    engine.query<{ clicks: number }>('facts/keyword_totals', parameters(small), signal);
  const other = new AbortController();
  await ask(other.signal);
  await ask(stop.signal);
  t.equal(statements[1], statements[0], 'one that was not is used again');
  t.equal((await ask())[0]?.clicks, 7);
  t.equal(statements.indexOf(statements[2]!), 2, 'the interrupt could stop another query');
});

t.test('closing stops what has begun and waits for it, wherever it is', async (t) => {
  const ends = new Set<string>();
  for (let time = 0; time < 20; time++) {
    const engine = await Engine.open({ memoryLimit: '256MB', threads: 2, temporaryFolder: folder, folders: [folder] });
    const queries = Array.from({ length: 10 }, () => engine.query('facts/keyword_totals', parameters(...large)));
    for (const query of queries) {
      query.then(
        () => ends.add('answered'),
        // Some messages go on with a line of the statement.
        (error: Error) => ends.add(error.message.split('\n', 1)[0]!),
      );
    }
    // From waiting for a connection to reading rows.
    for (let turns = 0; turns < time ** 2; turns++) await new Promise((resolve) => setImmediate(resolve));
    await engine.close();
    await Promise.allSettled(queries);
    await t.rejects(engine.query('facts/memory', {}), /The engine is closed/);
    await engine.close();
  }
  ends.delete('answered');
  t.strictSame([...ends], ['INTERRUPT Error: Interrupted!']);
});

t.test('a session that is closed ends its statements', async (t) => {
  const session = await engine.session();
  const statements = [1, 2, 3].map((number) => session.rows(`select sum(hash(range)) from range(${number}e9::bigint)`));
  session.close();
  for (const { status, reason } of (await Promise.allSettled(statements)) as PromiseRejectedResult[]) {
    t.equal(status, 'rejected');
    t.match(reason, /Interrupted/);
  }
});
