// The log has one line per request and never any part of a key.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { redact, redactAddress } from '../../server/api/plugins/redact.ts';
import { makeWorld, type World } from '../world.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'.split('');
const secret = fc.array(fc.constantFrom(...LETTERS), { minLength: 32, maxLength: 32 }).map((all) => all.join(''));

type ReplaceAll = (this: string, pattern: RegExp, replacement: string) => string;

/** Percent-encodes a character this many times; 0 leaves it unchanged. */
function encoded(character: string, times: number): string {
  if (times === 0) return character;
  return `%${'25'.repeat(times - 1)}${character.charCodeAt(0).toString(16)}`;
}

function decoded(text: string): string {
  let rest = text;
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return rest;
}

/** Whether the text contains any five consecutive characters of the secret. */
function leaks(text: string, hidden: string): boolean {
  const plain = decoded(text).toLowerCase();
  return hidden
    .split('')
    .some((_, at) => at + 5 <= hidden.length && plain.includes(hidden.slice(at, at + 5).toLowerCase()));
}

t.test('no part of a key is left, in any case, however it is percent-encoded', (t) => {
  const times = fc.array(fc.constantFrom(0, 0, 1, 2, 3, 6), { minLength: 41, maxLength: 41 });
  const around = fc.constantFrom(
    '',
    '/',
    '/api/v1/',
    '/api/v1/projects/',
    '/x?key=',
    '/x?a=1&key=',
    '/%zz?k=',
    '/x?%25=',
  );
  const behind = fc.constantFrom('', '/site', '?x=%zz', '&to=2026-03-01', '%00', '%zz', '%', '#x', '/'.repeat(3000));
  const name = fc.constantFrom('ord_live_', 'ord_feed_', 'ORD_LIVE_', 'Ord_Live_', 'ord_live_/', 'ord_live_=', '');
  fc.assert(
    fc.property(secret, times, around, behind, name, (hidden, each, before, after, prefix) => {
      const key = (prefix + hidden)
        .split('')
        .map((character, index) => encoded(character, each[index] ?? 0))
        .join('');
      const address = redactAddress(before + key + after);
      const message = redact(`Reply was already sent for "${before}${key}${after}"`);
      return !leaks(address, hidden) && !leaks(message, hidden);
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('no part of a key at the place where an address is cut', (t) => {
  fc.assert(
    fc.property(secret, fc.integer({ min: 900, max: 1010 }), fc.nat(3), (hidden, start, times) => {
      const key = hidden
        .split('')
        .map((character) => encoded(character, times))
        .join('');
      const shown = redactAddress(`/${'x/'.repeat(start / 2)}${key}${'/y'.repeat(100)}`);
      return !leaks(shown, hidden) && shown.length <= 1001;
    }),
  );
  t.end();
});

t.test('other addresses are logged as they came, the longest cut', (t) => {
  for (const url of [
    '/',
    '/api/v1/projects/Proj1/site?from=2026-03-01&x=%20%C3%A9%zz',
    '/100%25',
    '/%E2%82%AC',
    '/%',
  ]) {
    t.equal(redactAddress(url), url);
  }
  t.equal(redactAddress('/api/v1/projects?key=ord_live_abc&limit=1'), '/api/v1/projects?key=ord_live_…&limit=1');
  t.equal(redactAddress('/x?key=ORD_LIVE_abc%00d&limit=1'), '/x?key=ord_live_…&limit=1', 'a part of one, in any case');
  t.equal(redactAddress(`/site?key=${'a1B2'.repeat(8)}`), '/site?key=…', 'the secret alone');
  t.equal(redactAddress(`/${'x/'.repeat(8000)}`), `/${'x/'.repeat(499)}…`);
  t.end();
});

t.test('an address that is encoded many times costs no more than any other', (t) => {
  let passes = 0;
  const replaceAll = Reflect.get(String.prototype, 'replaceAll') as ReplaceAll;
  t.intercept(String.prototype, 'replaceAll', {
    value: function (this: string, ...words: Parameters<ReplaceAll>) {
      passes++;
      if (this.length > 1000) t.fail(`${this.length} characters are looked at`);
      return replaceAll.apply(this, words);
    },
  });
  // An underscore that takes 400 passes.
  const deep = `${'%'.repeat(400)}${'3'.repeat(399)}5F`;
  const hostile = [
    `/?x=${deep}`,
    `/?x=%${'25'.repeat(8000)}`,
    `/?x=${'%25'.repeat(5000)}`,
    // Each pass makes the next one possible.
    `/?x=${'%%32%35'.repeat(2000)}`,
    `/?x=%${'%32%35'.repeat(300)}`,
    `/?x=${'%2'.repeat(8000)}`,
  ];
  for (const url of hostile) {
    passes = 0;
    const shown = redactAddress(url);
    t.ok(shown.length <= 1001);
    t.ok(passes <= 10, `${passes} passes`);
  }
  const refused = redactAddress(`/?x=ord${deep}live_${'a'.repeat(20)}`);
  t.match(refused, /encoded more than 8 times/, 'it is not logged, for it could hide anything');
  t.end();
});

interface Line {
  readonly msg: string;
  readonly method?: string;
  readonly url?: string;
  readonly address?: string;
  readonly status?: number | null;
  readonly key?: string;
  readonly ms?: number;
  readonly cut?: string;
  readonly reason?: string;
}

/** Waits for this many new log lines of answers. */
function nextLines(world: World): (count: number) => Promise<Line[]> {
  const start = world.log.length;
  return async (count) => {
    for (;;) {
      const lines = world.log.slice(start).map((line) => JSON.parse(line) as Line);
      const answers = lines.filter(({ status }) => status !== undefined);
      if (answers.length >= count) return answers;
      await new Promise((done) => setImmediate(done));
    }
  };
}

async function open(t: Test, world: World): Promise<Socket> {
  if (!world.app.server.listening) await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

t.test('a line for every answer', async (t) => {
  const world = await makeWorld(t);
  const bearer = { authorization: `Bearer ${world.key}` };
  for (const [status, method, url, headers] of [
    [200, 'GET', '/api/v1/projects', bearer],
    [200, 'HEAD', '/api/v1/projects', bearer],
    [200, 'GET', '/livez', {}],
    [400, 'GET', '/api/v1/projects/Proj1/site?from=x', bearer],
    [401, 'GET', '/api/v1/projects', {}],
    [404, 'GET', '/api/v1/nothing', bearer],
    [404, 'POST', '/nothing', {}],
    [400, 'GET', '/%zz', {}],
    [400, 'GET', '/api/v1/%zz', bearer],
    [401, 'GET', '/api/v1/%zz', {}],
  ] as const) {
    const lines = nextLines(world);
    const answer = await world.app.inject({ method, url, headers });
    t.equal(answer.statusCode, status, url);
    const [line, ...more] = await lines(1);
    t.match(line, { msg: 'answered', method, url, status, address: '127.0.0.1', ms: Number }, `${method} ${url}`);
    t.equal(typeof line?.key, headers === bearer ? 'string' : 'undefined');
    t.strictSame(more, [], 'one line');
  }
});

t.test('a line for requests that cannot be read, and none of their text', async (t) => {
  const world = await makeWorld(t);
  for (const [status, reason, request] of [
    [400, /^HPE_/, `nonsense ${world.key}\r\n\r\n`],
    [431, 'HPE_HEADER_OVERFLOW', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${world.key.repeat(500)}\r\n\r\n`],
    [431, 'HPE_HEADER_OVERFLOW', `GET /${world.key.repeat(500)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ] as const) {
    const lines = nextLines(world);
    (await open(t, world)).write(request);
    t.match(await lines(1), [{ msg: 'answered', address: '127.0.0.1', status, reason }]);
  }
  // Node reports a request that did not arrive in time by the same event.
  const lines = nextLines(world);
  const accepted = once(world.app.server, 'connection') as Promise<[Socket]>;
  const client = await open(t, world);
  let answer = '';
  client.setEncoding('utf8').on('data', (chunk: string) => {
    answer += chunk;
  });
  const [socket] = await accepted;
  const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  world.app.server.emit('clientError', late, socket);
  await once(client, 'close');
  t.match(await lines(1), [{ msg: 'answered', status: 408, reason: 'ERR_HTTP_REQUEST_TIMEOUT' }]);
  t.match(answer, /^HTTP\/1\.1 408 Request Timeout[\s\S]*"code":"invalid_request"/);
  t.notOk(world.log.join('').includes(world.key.slice('ord_live_'.length, -20)));
});

t.test('messages of errors show no key', async (t) => {
  const world = await makeWorld(t);
  world.app.log.error({ err: new Error(`Reply was already sent in "/?key=${world.key}"`) }, 'failed');
  const [line = ''] = world.log.slice(-1);
  t.match(line, 'Reply was already sent');
  t.notMatch(line, world.key.slice('ord_live_'.length, -20));
});
