import { join } from 'node:path';
import t from 'tap';
import { shortIdNumber } from '../../server/domain/ids.ts';
import { Engine } from '../../server/facts/engine.ts';
import { temporaryFolder } from '../world.ts';

const folder = temporaryFolder(t);
const engine = await Engine.open({
  memoryLimit: '256MB',
  threads: 2,
  temporaryFolder: join(folder, 'temporary'),
  folders: [folder],
});
t.teardown(() => engine.close());

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

t.test('questions that are asked at once, over and over, each get their own answer', async (t) => {
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

t.test('a question that failed or was stopped does not spoil the next one', async (t) => {
  const small = await write('Small', 7);
  const large = await write('Large', 1, 3_000_000);
  const ask = (file: string, signal?: AbortSignal) =>
    engine.query<{ clicks: number }>('facts/keyword_totals', parameters(file), signal);
  await t.rejects(ask(join(folder, 'nothing.parquet')), /No files found/);
  for (let time = 0; time < 5; time++) {
    const stop = new AbortController();
    const stopped = t.rejects(ask(large, stop.signal), { message: 'The query was stopped.' });
    const [other] = await Promise.all([ask(small), new Promise((done) => setTimeout(done, time))]);
    stop.abort();
    t.equal(other[0]?.clicks, 7);
    t.equal((await ask(small))[0]?.clicks, 7);
    await stopped;
    await t.rejects(ask(small, stop.signal), { message: 'The query was stopped.' });
  }
  t.equal((await ask(large))[0]?.clicks, 3_000_000);
});
