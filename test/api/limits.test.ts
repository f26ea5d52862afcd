// Requests wait in a fair queue, and are stopped at their time limit or when the client disconnects.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { createKey } from '../../server/operations/keys.ts';
import { ConcurrencyLimit, SharedConcurrencyLimit } from '../../server/runtime/limits.ts';
import { StreamScheduler } from '../../server/runtime/stream-scheduler.ts';
import { facts, keyword, makeWorld, PROJECT, WORKSPACE, type World } from '../world.ts';

/** Timers fire when the test says so. */
function holdTimers(t: Test): (milliseconds: number) => void {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  return (milliseconds) => mock.timers.tick(milliseconds);
}

const { signal } = new AbortController();
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

t.test('a caller that is aborted while it waits leaves the queue at once', async (t) => {
  const limit = new ConcurrencyLimit(1);
  const leave = await limit.enter(signal);
  const gone = new AbortController();
  const waiting = Array.from({ length: 5 }, () => limit.enter(gone.signal));
  const next = limit.enter(signal);
  t.equal(limit.waiting, 6);
  gone.abort(new Error('gone'));
  t.equal(limit.waiting, 1, 'while the place is still taken');
  for (const refused of waiting) await t.rejects(refused, { message: 'gone' });
  await t.rejects(limit.enter(gone.signal), { message: 'gone' });
  leave();
  (await next)();
  t.equal(limit.waiting, 0);
});

t.test('an abort during the work does not free the slot before the work has ended', async (t) => {
  const limit = new ConcurrencyLimit(1);
  const stop = new AbortController();
  const leave = await limit.enter(stop.signal);
  const next = limit.enter(signal);
  stop.abort();
  await settled();
  t.equal(limit.waiting, 1);
  leave();
  t.type(await next, 'function');
});

t.test('a higher priority goes first; equal ones in order of arrival', async (t) => {
  const limit = new ConcurrencyLimit(1);
  const order: string[] = [];
  const run = (name: string, priority?: number) => limit.run(signal, async () => void order.push(name), priority);
  const leave = await limit.enter(signal);
  const all = [run('b', -2), run('c', -3), run('first'), run('second'), run('a', -1)];
  leave();
  await Promise.all(all);
  t.strictSame(order, ['first', 'second', 'a', 'b', 'c']);
  await t.rejects(
    limit.run(signal, () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  );
  t.type(await limit.enter(signal), 'function', 'a failure frees its place');
});

t.test('slots: a share for each key, and 503 after waiting too long', async (t) => {
  const tick = holdTimers(t);
  const places = new SharedConcurrencyLimit({ concurrency: 3, perKey: 2, maxWait: 5000 });
  const [first, second] = [await places.enter('one', signal), await places.enter('one', signal)];
  const third = places.enter('one', signal);
  const other = await places.enter('two', signal);
  tick(4999);
  first();
  first();
  const leaveThird = await third;
  const late = places.enter('one', signal);
  const lateToo = places.enter('two', signal);
  tick(5000);
  for (const refused of [late, lateToo]) await t.rejects(refused, { code: 'unavailable', retryAfter: 5 });
  for (const leave of [second, other, leaveThird]) leave();
  t.equal(places.keys, 0, 'nothing is left of keys that are done');

  const gone = new AbortController();
  const leaves = [await places.enter('one', signal), await places.enter('one', signal)];
  const waiting = places.enter('one', gone.signal);
  gone.abort(new Error('gone'));
  await t.rejects(waiting, { message: 'gone' });
  await t.rejects(places.enter('two', gone.signal), { message: 'gone' });
  for (const leave of leaves) leave();
  t.equal(places.keys, 0);
});

t.test('the oldest long answer goes on first, unless another has waited long', async (t) => {
  let now = 0;
  const turns = new StreamScheduler(() => now);
  const order: string[] = [];
  const write = async (name: string, started: number, parts: number): Promise<void> => {
    for (let part = 0; part < parts; part++) {
      await turns.take(started);
      order.push(name);
      now += 1000;
    }
  };
  await Promise.all([write('second', 2, 9), write('first', 1, 6)]);
  // Between two of its own parts, the first one is not waiting.
  const early = order.slice(0, order.lastIndexOf('first') + 1);
  t.ok(early.filter((name) => name === 'first').length >= early.length / 2, String(order));
  t.equal(order.length, 15);

  order.length = 0;
  const waiting = [5, 1, 3].map((started) => turns.take(started).then(() => order.push(String(started))));
  await Promise.all(waiting);
  t.strictSame(order, ['1', '3', '5']);
  order.length = 0;
  const late = turns.take(9).then(() => order.push('late'));
  now += 5001;
  await Promise.all([late, turns.take(1).then(() => order.push('1'))]);
  t.strictSame(order, ['late', '1']);
});

/** A long answer that the test writes. */
class Script {
  readonly parts: (() => Promise<Buffer | undefined>)[] = [];
  signal: AbortSignal | undefined;
  /** Resolves when the answer is being computed. */
  readonly asked = Promise.withResolvers<void>();
  readonly ended = Promise.withResolvers<void>();

  async *play(given: AbortSignal): AsyncGenerator<Buffer, void> {
    this.signal = given;
    this.asked.resolve();
    try {
      for (const part of this.parts) {
        const bytes = await part();
        if (bytes !== undefined) yield bytes;
      }
    } finally {
      this.ended.resolve();
    }
  }
}

interface Line {
  readonly msg: string;
  readonly url: string;
  readonly status: number | null;
  readonly cut?: string;
}

/** Waits for events only: timers may be mocked. */
async function found<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    await settled();
  }
}

/** The log line about an address, once it is written. */
function lineOf(world: World, url: string): Promise<Line> {
  return found(() => {
    const lines = world.log.map((line) => JSON.parse(line) as Line);
    return lines.find((line) => line.url === url && line.status !== undefined);
  });
}

async function listen(world: World): Promise<number> {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  return (world.app.server.address() as AddressInfo).port;
}

/** Sends a request. The answer is only read when a test listens to it. */
async function ask(t: Test, port: number, path: string, key = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  const authorization = key === '' ? '' : `Authorization: Bearer ${key}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${authorization}\r\n`);
  return socket;
}

/** All data that a client gets until its connection ends. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

async function streaming(t: Test, options: Parameters<typeof makeWorld>[2] = {}) {
  const world = await makeWorld(t, {}, options);
  const script = new Script();
  const places = new SharedConcurrencyLimit({ concurrency: 1, perKey: 1, maxWait: 5000 });
  world.app.get('/stream', (_request, reply) =>
    reply.sendStream(places, async (given) => ({ headers: {}, body: script.play(given) })),
  );
  world.app.get('/whole', (_request, reply) => reply.send(LONG));
  return { world, script, places, port: await listen(world) };
}

const text = (letters: string) => async () => Buffer.from(letters);
/** More than the buffers of a connection hold if the client does not read. */
const LONG = Buffer.alloc(16_000_000, ' ');

t.test('a long answer may take any time, as long as there is progress', async (t) => {
  const tick = holdTimers(t);
  const { world, script, places, port } = await streaming(t);
  const sent = Promise.withResolvers<void>();
  const last = async (): Promise<Buffer> => {
    sent.resolve();
    return LONG;
  };
  script.parts.push(text('[1'), async () => LONG, last, text(']'));
  const socket = await ask(t, port, '/stream');
  // One part is being sent, one is ready, and no more are made.
  await sent.promise;
  await settled();
  // The client reads slowly.
  for (let minute = 0; minute < 60; minute++) tick(60_000);
  const answer = await readAll(socket);
  t.match(answer.slice(0, 15), 'HTTP/1.1 200 OK');
  t.match(answer.slice(-20), / \r\n1\r\n\]\r\n0\r\n\r\n$/);
  t.match(await lineOf(world, '/stream'), { msg: 'answered', status: 200, cut: undefined });
  t.equal(places.keys, 0);
});

t.test('an answer that does not begin in time is stopped, with 503', async (t) => {
  const tick = holdTimers(t);
  const { world, script, places, port } = await streaming(t);
  const { promise: never } = Promise.withResolvers<undefined>();
  script.parts.push(() => never);
  const answer = readAll(await ask(t, port, '/stream'));
  await script.asked.promise;
  t.equal(script.signal?.aborted, false);
  tick(74_999);
  t.equal(script.signal?.aborted, false);
  tick(1);
  t.equal(script.signal?.aborted, true, 'its work is aborted');
  t.match(await answer, /^HTTP\/1\.1 503 [\s\S]*retry-after: 60\r\n[\s\S]*took too long/);
  t.match(await lineOf(world, '/stream'), { msg: 'answered', status: 503 });
  t.equal(places.keys, 0, 'its place is free');
});

t.test('what else runs for an answer that has failed is stopped', async (t) => {
  const { world, script, port } = await streaming(t);
  script.parts.push(() => Promise.reject(new Error('one of several parts')));
  t.match(await readAll(await ask(t, port, '/stream')), /^HTTP\/1\.1 500 /);
  t.match(await lineOf(world, '/stream'), { msg: 'answered', status: 500 });
  t.equal(await found(() => script.signal?.aborted || undefined), true);
});

t.test('a query that exceeds the time limit is stopped and answered with 503', async (t) => {
  const tick = holdTimers(t);
  const world = await makeWorld(t, { site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]) });
  const asked = Promise.withResolvers<AbortSignal>();
  t.intercept(Engine.prototype, 'query', {
    value: (_name: string, _parameters: object, given: AbortSignal) => {
      asked.resolve(given);
      return new Promise((_, reject) => given.addEventListener('abort', () => reject(new Error('stopped'))));
    },
  });
  const answer = world.ask('/site');
  const given = await asked.promise;
  tick(75_000);
  t.ok(given.aborted);
  const { status, headers, body } = await answer;
  t.strictSame([status, headers['retry-after']], [503, '60']);
  t.match(body, { error: { code: 'unavailable', message: /took too long/ } });
});

t.test('an answer that stalls in the middle breaks the connection', async (t) => {
  const tick = holdTimers(t);
  const { world, script, places, port } = await streaming(t);
  const halted = Promise.withResolvers<void>();
  script.parts.push(text('[1'), () => {
    halted.resolve();
    return new Promise((_, reject) => script.signal?.addEventListener('abort', () => reject(new Error('stopped'))));
  });
  const answer = readAll(await ask(t, port, '/stream'));
  await halted.promise;
  tick(75_000);
  t.match(await answer, /^HTTP\/1\.1 200 OK[\s\S]*\[1\r\n$/);
  t.match(await lineOf(world, '/stream'), { msg: 'not answered whole', cut: 'time limit', status: 200 });
  await script.ended.promise;
  t.equal(places.keys, 0);
});

t.test('a failure in the middle of a long answer breaks the connection and is logged', async (t) => {
  const { world, script, port } = await streaming(t);
  script.parts.push(text('[1'), () => Promise.reject(new Error('no such file')));
  const answer = await readAll(await ask(t, port, '/stream'));
  t.notMatch(answer, /0\r\n\r\n$/);
  t.match(await lineOf(world, '/stream'), { msg: 'not answered whole', cut: 'failed', status: 200 });
  t.match(world.log.join(''), /a streamed response failed.*|no such file/);
});

/** Asks and reads nothing, until the server's timer for such clients goes off. */
async function stall(t: Test, { app }: World, port: number, path: string): Promise<void> {
  const connected = once(app.server, 'connection') as Promise<[Socket]>;
  await ask(t, port, path);
  const [socket] = await connected;
  await found(() => (socket.writableLength > 0 ? true : undefined));
  t.equal(socket.timeout, 30_000, 'the timer runs');
  socket.emit('timeout');
  // Else nobody would end it.
  if (!t.ok(socket.destroyed)) socket.destroy();
}

t.test('a client that takes nothing of its answer makes room for others', async (t) => {
  const { world, script, places, port } = await streaming(t, { limits: { stalled: 30_000 } });
  script.parts.push(text('[1'), async () => LONG, text(']'));
  await stall(t, world, port, '/stream');
  t.match(await lineOf(world, '/stream'), { msg: 'not answered whole', cut: 'client stalled', status: 200 });
  await script.ended.promise;
  t.equal(places.keys, 0);

  // The last bytes of an answer, and answers that are sent in one go, are no different.
  await stall(t, world, port, '/whole');
  t.match(await lineOf(world, '/whole'), { msg: 'not answered whole', cut: 'client stalled', status: 200 });
});

t.test('a client that waits for the service does not count as stalled', async (t) => {
  const { world, script, port } = await streaming(t, { limits: { stalled: 20 } });
  const { promise: released, resolve: release } = Promise.withResolvers<Buffer>();
  let quiet = 0;
  world.app.server.on('connection', (socket: Socket) => {
    socket.on('timeout', () => {
      quiet++;
      if (quiet === 3) release(Buffer.from(']'));
    });
  });
  script.parts.push(text('[1'), () => released);
  t.match(await readAll(await ask(t, port, '/stream')), /^HTTP\/1\.1 200 OK[\s\S]*\]\r\n0\r\n\r\n$/);
  t.equal(quiet, 3);
});

t.test('a client that disconnects stops the work for its answer', async (t) => {
  const { world, script, places, port } = await streaming(t);
  const { promise: never } = Promise.withResolvers<undefined>();
  script.parts.push(() => never);
  const before = await ask(t, port, '/stream');
  await script.asked.promise;
  before.destroy();
  t.match(await lineOf(world, '/stream'), { msg: 'not answered whole', cut: 'client gone', status: null });
  t.equal(script.signal?.aborted, true);
  await found(() => (places.keys === 0 ? true : undefined));
});

const DAYS_OF_KEYWORD = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [PROJECT, { ...PROJECT, id: 'Proj2', workspace_id: 'other' }],
  keywords: [keyword('Kw001', 'a'), { ...keyword('Kw002', 'b'), project_id: 'Proj2' }],
  keyword_daily: [
    ...facts('keyword_id date device', ['Kw001', '2026-03-01', 'mobile', 1, 2, 3]),
    ...facts('keyword_id date device', ['Kw002', '2026-03-01', 'mobile', 1, 2, 3]).map((row) => ({
      ...row,
      project_id: 'Proj2',
    })),
  ],
};
const LONG_QUESTION = '/keywords?daily=1&period=486d&limit=5000';

/** Counts the queries for days of keywords, and makes them wait for `before`. */
function watchDays(t: Test, before: () => Promise<void>): { most: number; asked: number } {
  const seen = { now: 0, most: 0, asked: 0 };
  const numbers = Reflect.get(Engine.prototype, 'numbers') as Engine['numbers'];
  t.intercept(Engine.prototype, 'numbers', {
    value: async function (this: Engine, ...words: Parameters<Engine['numbers']>) {
      if (words[0] !== 'facts/keyword_days') return numbers.apply(this, words);
      seen.asked++;
      seen.now++;
      seen.most = Math.max(seen.most, seen.now);
      try {
        await before();
        return await numbers.apply(this, words);
      } finally {
        seen.now--;
      }
    },
  });
  return seen;
}

t.test('long answers of one workspace do not take all slots, and short ones need none', async (t) => {
  const limits = { longAnswers: 2, longAnswersPerWorkspace: 1, longAnswerWait: 10 };
  const world = await makeWorld(t, DAYS_OF_KEYWORD, { limits, environment: { ORDINATE_THREADS: '4' } });
  const { key } = await createKey(world.catalog, { workspace: 'other', name: 'other', at: 0 });
  const { key: second } = await createKey(world.catalog, { workspace: 'acme', name: 'second', at: 0 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let waits = 1;
  watchDays(t, async () => {
    begun.resolve();
    if (waits-- > 0) await released;
  });
  const first = world.ask(LONG_QUESTION);
  await begun.promise;
  const refused = await world.get(`/projects/Proj1${LONG_QUESTION}`, { authorization: `Bearer ${second}` });
  t.strictSame([refused.status, refused.headers['retry-after']], [503, '5'], 'another key of the workspace');
  t.equal((await world.ask(`${LONG_QUESTION}&group=nosuc`)).status, 404, 'errors are reported at once');
  t.equal((await world.ask('/keywords?daily=1')).status, 200, 'a short one');
  t.equal((await world.ask('/keywords')).status, 200);
  const other = { authorization: `Bearer ${key}` };
  t.equal((await world.get(`/projects/Proj2${LONG_QUESTION}`, other)).status, 200, 'another workspace');
  release();
  t.equal((await first).status, 200);
  t.equal((await world.ask(LONG_QUESTION)).status, 200, 'its place is free');
});

t.test('no more heavy queries run at once than there are threads', async (t) => {
  const world = await makeWorld(t, DAYS_OF_KEYWORD, { environment: { ORDINATE_THREADS: '2' } });
  const seen = watchDays(t, settled);
  const answers = await Promise.all(Array.from({ length: 12 }, () => world.ask('/keywords?daily=1')));
  t.ok(answers.every(({ status }) => status === 200));
  t.strictSame([seen.most, seen.asked], [2, 12]);
});
