// Answers are cached until their data changes, computed once for concurrent requests, and compressed on request.
import { renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { ResponseCache } from '../../server/api/response-cache.ts';
import { cacheKey } from '../../server/domain/cache-key.ts';
import { ENTRY_BYTES } from '../../server/runtime/compact-buffer.ts';
import { facts, keyword, makeWorld } from '../world.ts';

const DAYS = facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]);

t.test('an answer is cached until its project changes', async (t) => {
  const world = await makeWorld(t, { site_daily: DAYS });
  const state = async () =>
    (await world.app.inject('/readyz')).json<{ answers: { hits: number; misses: number } }>().answers;
  await world.ask('/site?period=7d');
  await world.ask('/site?period=7d&unknown=1');
  t.match(await state(), { answers: 1, hits: 1, misses: 1 });
  await world.load({ site_daily: facts('date device', ['2026-03-09', 'mobile', 2, 10, 20]) });
  t.equal((await world.ask('/site?period=7d')).body.totals.clicks, 2);
  t.match(await state(), { hits: 1, misses: 2 });
});

t.test('with a cache of size 0 each answer is computed', async (t) => {
  const world = await makeWorld(t, { site_daily: DAYS }, { environment: { ORDINATE_CACHE: '0MB' } });
  await world.ask('/site');
  await world.ask('/site');
  const { answers } = (await world.app.inject('/readyz')).json<{ answers: object }>();
  t.strictSame(answers, { answers: 0, bytes: 0, hits: 0, misses: 2 });
});

t.test('concurrent equal queries run once', async (t) => {
  const cache = new ResponseCache(8000);
  let made = 0;
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  let given: AbortSignal | undefined;
  const make = (signal: AbortSignal): Promise<Buffer> => {
    made++;
    given = signal;
    return promise;
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const answers = [
    cache.make(cacheKey('question'), 'identity', one.signal, make),
    cache.make(cacheKey('question'), 'identity', two.signal, make),
  ];
  one.abort(new Error('gone'));
  await t.rejects(answers[0]!, { message: 'gone' });
  t.equal(given?.aborted, false, 'another one waits still');
  resolve(plain('answer'));
  t.strictSame(await answers[1], { bytes: plain('answer'), encoding: 'identity' });
  t.equal(made, 1);
});

t.test(
  'a running query that no client waits for any more is aborted, and does not block the next equal query',
  async (t) => {
    const cache = new ResponseCache(8000);
    const alone = new AbortController();
    const stopped = Promise.withResolvers<Buffer>();
    let given: AbortSignal | undefined;
    const left = cache.make(cacheKey('question'), 'identity', alone.signal, (signal) => {
      given = signal;
      return stopped.promise;
    });
    alone.abort(new Error('gone'));
    await t.rejects(left, { message: 'gone' }, 'who has gone waits no longer');
    t.equal(given?.aborted, true);

    const { promise, resolve } = Promise.withResolvers<Buffer>();
    let made = 0;
    const make = (): Promise<Buffer> => {
      made++;
      return promise;
    };
    const { signal } = new AbortController();
    const second = cache.make(cacheKey('question'), 'identity', signal, make);
    // Aborted work ends late, after its successor has started.
    stopped.reject(new Error('stopped'));
    await new Promise(setImmediate);
    const third = cache.make(cacheKey('question'), 'identity', signal, make);
    resolve(plain('answer'));
    const answer = { bytes: plain('answer'), encoding: 'identity' };
    t.strictSame(await Promise.all([second, third]), [answer, answer]);
    t.equal(made, 1, 'the successor is shared');
    await t.rejects(
      cache.make(cacheKey('other'), 'identity', alone.signal, make),
      { message: 'gone' },
      'nothing is begun for who has gone',
    );
    t.equal(made, 1);
  },
);

t.test('an answer that would evict all others is not cached', async (t) => {
  const cache = new ResponseCache(8000);
  const { signal } = new AbortController();
  for (const name of ['one', 'two', 'three', 'four'])
    await cache.make(cacheKey(name), 'identity', signal, async () => plain('x'.repeat(200)));
  t.equal(cache.state.answers, 4);
  await cache.make(cacheKey('long'), 'identity', signal, async () => plain('x'.repeat(1300)));
  t.equal(cache.find(cacheKey('long'), 'identity'), undefined);
  t.equal(cache.state.answers, 4, 'the others are still cached');
});

t.test('cached answers hold only the memory of their bytes', async (t) => {
  const cache = new ResponseCache(1e6);
  const bytes = Buffer.alloc(64_000, 'x').subarray(100, 300);
  await cache.make(cacheKey('question'), 'gzip', new AbortController().signal, async () => bytes);
  const kept = cache.find(cacheKey('question'), 'gzip');
  t.strictSame(kept, { bytes, encoding: 'identity' }, 'too short to be compressed');
  t.equal(kept?.bytes.buffer.byteLength, 200);
  t.match(cache.state, { answers: 1, bytes: ENTRY_BYTES + 200 + cacheKey('question').length });
});

function plain(text: string): Buffer {
  return Buffer.from(text);
}

t.test('a query runs once for all encodings, concurrent or later', async (t) => {
  const cache = new ResponseCache(1e6);
  const { signal } = new AbortController();
  const text = 'a long answer '.repeat(1000);
  let runs = 0;
  const run = async (): Promise<Buffer> => {
    runs++;
    return plain(text);
  };
  const decoders = {
    zstd: zstdDecompressSync,
    br: brotliDecompressSync,
    gzip: gunzipSync,
    identity: (bytes: Buffer) => bytes,
  };
  const ask = async (encoding: keyof typeof decoders, query = 'question'): Promise<void> => {
    const answer = await cache.make(cacheKey(query), encoding, signal, run);
    t.equal(answer.encoding, encoding);
    t.equal(decoders[encoding](answer.bytes).toString(), text);
  };
  await Promise.all([ask('zstd'), ask('gzip'), ask('br'), ask('zstd')]);
  t.equal(runs, 1);
  await ask('identity');
  t.equal(runs, 1, 'made from the bytes of another encoding');
  await ask('identity', 'another');
  t.equal(runs, 2);
});

t.test('a failure in the middle of a long answer breaks the connection', async (t) => {
  const ids = Array.from({ length: 2000 }, (_, index) => `K${String(index).padStart(4, '0')}`);
  const days = ['2026-01-05', '2026-02-05', '2026-03-05'];
  const world = await makeWorld(t, {
    keywords: ids.map((id) => keyword(id, id)),
    keyword_daily: facts(
      'keyword_id date device',
      ...ids.flatMap((id) => days.map((day) => [id, day, 'mobile', 1, 2, 3])),
    ),
  });
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.app.server.address() as { port: number };
  const talk = (format: string, onData: (text: string) => void): Promise<string> =>
    new Promise((done) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `GET /api/v1/projects/Proj1/keywords?period=486d&limit=2000&daily=1&format=${format} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${world.key}\r\n\r\n`,
        );
      });
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        text += chunk;
        onData(text);
      });
      socket.on('error', () => {});
      socket.on('close', () => done(text));
    });
  t.match(await talk('json', () => {}), /\]\}\]\}\r\n0\r\n\r\n$/, 'a whole answer ends as such');
  for (const format of ['csv', 'ndjson', 'arrow']) t.match(await talk(format, () => {}), /\r\n0\r\n\r\n$/, format);

  const folder = join(world.dataFolder, 'facts');
  for (const format of ['json', 'csv', 'ndjson', 'arrow']) {
    let broken = '';
    // On a busy machine the whole answer may be on its way before the folder is gone.
    for (let tries = 0; tries < 5 && (tries === 0 || broken.endsWith('\r\n0\r\n\r\n')); tries++) {
      let isBroken = false;
      broken = await talk(format, () => {
        if (isBroken) return;
        isBroken = true;
        renameSync(folder, `${folder}-away`);
      });
      renameSync(`${folder}-away`, folder);
    }
    t.match(broken, /^HTTP\/1\.1 200 OK/, format);
    t.notMatch(broken, /\r\n0\r\n\r\n$/, `${format}: a broken one has no end`);
  }
  rmSync(folder, { recursive: true });
  t.match(await talk('parquet', () => {}), /^HTTP\/1\.1 (?!200)[\s\S]*"error"/, 'Parquet is written before it is sent');
});
