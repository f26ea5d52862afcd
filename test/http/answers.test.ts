import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { cacheKey } from '../../server/domain/cache-key.ts';
import { toMetrics } from '../../server/domain/metrics.ts';
import { Engine } from '../../server/facts/engine.ts';
import { KeyedGate } from '../../server/gate.ts';
import { AnswerCache } from '../../server/http/answer-cache.ts';
import type { EncodedBytes } from '../../server/http/compression.ts';
import { JsonBytes, jsonBytes } from '../../server/http/json-bytes.ts';
import { writeMetrics } from '../../server/http/metrics-json.ts';
import { sendStream } from '../../server/http/send-stream.ts';
import { facts, keyword, makeWorld } from '../world.ts';

t.test('bytes of metrics are what JSON.stringify would write', (t) => {
  const count = fc.oneof(fc.nat(20), fc.nat(2 ** 32), fc.maxSafeNat());
  fc.assert(
    fc.property(count, count, count, (clicks, impressions, sumPosition) => {
      const measures = {
        clicks,
        impressions,
        sumPosition: Math.min(sumPosition, Number.MAX_SAFE_INTEGER - impressions),
      };
      const json = new JsonBytes();
      json.text('{');
      writeMetrics(json, clicks, impressions, measures.sumPosition);
      return json.take().toString() === JSON.stringify(toMetrics(measures));
    }),
  );
  t.end();
});

t.test('texts of any length and any characters go through', (t) => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 50 }), (texts) => {
      const json = new JsonBytes();
      for (const text of texts) json.text(text.repeat(20));
      return json.take().toString() === texts.map((text) => text.repeat(20)).join('');
    }),
  );
  t.end();
});

t.test('answers written one after the other keep their bytes', (t) => {
  const texts = ['a'.repeat(100_000), 'b', 'c'.repeat(5_000_000), 'd'.repeat(200_000)];
  const answers = texts.map((text) => jsonBytes((json) => json.text(text)));
  t.throws(() => jsonBytes(() => failing()), { message: 'failed' });
  t.equal(jsonBytes((json) => json.text('e')).toString(), 'e');
  t.strictSame(
    answers.map((answer) => answer.toString() === texts.shift()),
    [true, true, true, true],
  );
  t.end();
});

function failing(): never {
  throw new Error('failed');
}

const DAYS = facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]);

t.test('an answer is kept until its project changes', async (t) => {
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

t.test('without memory for answers each is made', async (t) => {
  const world = await makeWorld(t, { site_daily: DAYS }, { environment: { ORDINATE_CACHE: '0MB' } });
  await world.ask('/site');
  await world.ask('/site');
  const { answers } = (await world.app.inject('/readyz')).json<{ answers: object }>();
  t.strictSame(answers, { answers: 0, bytes: 0, hits: 0, misses: 2 });
});

t.test('equal questions share one answer in the making, which is given up when nobody waits', async (t) => {
  const cache = new AnswerCache(1000);
  let made = 0;
  const { promise, resolve } = Promise.withResolvers<EncodedBytes>();
  let given: AbortSignal | undefined;
  const make = (signal: AbortSignal): Promise<EncodedBytes> => {
    made++;
    given = signal;
    return promise;
  };
  const [one, two] = [new AbortController(), new AbortController()];
  const answers = [
    cache.make(cacheKey('question'), one.signal, make),
    cache.make(cacheKey('question'), two.signal, make),
  ];
  one.abort();
  t.equal(given?.aborted, false, 'another one waits still');
  resolve(plain('answer'));
  t.strictSame(await Promise.all(answers), [plain('answer'), plain('answer')]);
  t.equal(made, 1);

  const alone = new AbortController();
  const left = cache.make(cacheKey('other'), alone.signal, (signal) => {
    given = signal;
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up'))));
  });
  alone.abort();
  await t.rejects(left, { message: 'given up' });
  t.equal(given?.aborted, true);
  t.strictSame(
    await cache.make(cacheKey('other'), new AbortController().signal, async () => plain('again')),
    plain('again'),
  );
});

t.test('kept answers hold no memory but that of their bytes', async (t) => {
  const cache = new AnswerCache(1e6);
  const bytes = Buffer.alloc(64_000, 'x').subarray(100, 300);
  await cache.make(cacheKey('question'), new AbortController().signal, async () => ({ bytes, encoding: 'gzip' }));
  const kept = cache.kept(cacheKey('question'));
  t.strictSame(kept, { bytes, encoding: 'gzip' });
  t.equal(kept?.bytes.buffer.byteLength, 200);
  t.match(cache.state, { answers: 1, bytes: 200 + cacheKey('question').length });
});

function plain(text: string): EncodedBytes {
  return { bytes: Buffer.from(text), encoding: 'identity' };
}

t.test('answers are compressed as the client asks, small ones never', async (t) => {
  const keywords = Array.from({ length: 60 }, (_, index) => keyword(`Kw${100 + index}`, `query ${index}`));
  const world = await makeWorld(t, { keywords });
  const ask = (path: string, encoding: string) =>
    world.app.inject({
      url: `/api/v1/projects/Proj1${path}`,
      headers: { authorization: `Bearer ${world.key}`, 'accept-encoding': encoding },
    });
  const plain = (await ask('/keywords', 'identity')).body;
  for (const [encoding, decompress] of [
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ] as const) {
    const answer = await ask('/keywords', encoding);
    t.equal(answer.headers['content-encoding'], encoding);
    t.equal(decompress(answer.rawPayload).toString(), plain, encoding);
    const again = await ask('/keywords', encoding);
    t.equal(again.headers['content-encoding'], encoding, 'kept');
    t.equal(again.headers['content-length'], String(again.rawPayload.length));
    t.equal(again.headers['vary'], 'accept-encoding');
    t.ok(again.rawPayload.equals(answer.rawPayload));
    for (const small of ['/alerts', '/site?period=1d']) {
      for (const _ of ['made', 'kept']) {
        t.equal((await ask(small, encoding)).headers['content-encoding'], undefined, small);
      }
    }
  }
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5, br;q=0.1', 'gzip'],
    ['*', 'gzip'],
    ['x-gzip', 'gzip'],
    ['br;q=0.1, identity', 'br'],
    ['identity, gzip;q=0', undefined],
    ['compress', undefined],
    ['', undefined],
  ] as const) {
    for (const time of ['made', 'kept']) {
      t.equal((await ask('/keywords', accepted)).headers['content-encoding'], encoding, `'${accepted}' ${time}`);
    }
  }
});

t.test('a question that takes longer than the service allows is stopped and answered with 503', async (t) => {
  const world = await makeWorld(t, { site_daily: DAYS }, { environment: { ORDINATE_REQUEST_SECONDS: '1' } });
  let stopped = false;
  t.intercept(Engine.prototype, 'query', {
    value: (_name: string, _parameters: object, signal: AbortSignal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('stopped'));
        });
      }),
  });
  const { status, headers, body } = await world.ask('/site');
  t.equal(status, 503);
  t.equal(headers['retry-after'], '60');
  t.match(body, { error: { code: 'unavailable', message: /longer than the service allows/ } });
  t.ok(stopped);
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
  const talk = (onData: (text: string) => void): Promise<string> =>
    new Promise((done) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `GET /api/v1/projects/Proj1/keywords?period=486d&limit=2000&daily=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${world.key}\r\n\r\n`,
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
  const whole = await talk(() => {});
  t.match(whole, /\]\}\]\}\r\n0\r\n\r\n$/, 'a whole answer ends as such');

  let isBroken = false;
  const broken = await talk(() => {
    if (isBroken) return;
    isBroken = true;
    rmSync(join(world.dataFolder, 'facts'), { recursive: true });
  });
  t.match(broken, /^HTTP\/1\.1 200 OK/);
  t.notMatch(broken, /\r\n0\r\n\r\n$/, 'a broken one has no end');
});

t.test('long answers: a share of places for each key, and a place is free when the connection is', async (t) => {
  const gate = new KeyedGate(3, 2, 1);
  const { signal } = new AbortController();
  const [first, second] = [await gate.enter('one', signal), await gate.enter('one', signal)];
  const third = gate.enter('one', signal);
  await t.rejects(gate.enter('one', signal), { code: 'unavailable' }, 'one waits, more are told to come back');
  const other = await gate.enter('two', signal);
  first();
  first();
  const leaveThird = await third;
  for (const leave of [second, other, leaveThird]) leave();
  const gone = new AbortController();
  gone.abort();
  await t.rejects(gate.enter('one', gone.signal), { name: 'AbortError' });
  t.type(await gate.enter('one', signal), 'function', 'whoever left has freed the place');
});

t.test('an answer that comes after its time limit frees its place', async (t) => {
  const world = await makeWorld(
    t,
    { keywords: [keyword('Kw001', 'a')] },
    { environment: { ORDINATE_REQUEST_SECONDS: '1' } },
  );
  const gate = new KeyedGate(1, 1, 0);
  world.app.get('/late', (request, reply) =>
    sendStream(request, reply, gate, async () => {
      await new Promise((done) => setTimeout(done, 1300));
      return (async function* () {
        yield Buffer.from('{}');
      })();
    }),
  );
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.app.server.address() as { port: number };
  t.equal((await fetch(`http://127.0.0.1:${port}/late`)).status, 503);
  await new Promise((done) => setTimeout(done, 600));
  const leave = await gate.enter('', new AbortController().signal);
  leave();
});
