// The Trino client reads all rows, cancels abandoned queries, and reports failures without passwords.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { UnreadableHere } from '../../../server/facts/reader.ts';
import { TrinoClient } from '../../../server/facts/trino/client.ts';
import { TrinoReader } from '../../../server/facts/trino/reader.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
/** A status, or the body of an answer. */
type Answer = number | object;

/** A server that speaks the protocol of Trino: `answers` by method and path. */
async function fakeTrino(t: Test, answers: (received: Received, tried: number) => Answer | Promise<Answer>) {
  const requests: Received[] = [];
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const received = { method, path: url, headers, body: (await buffer(request)).toString() };
    const tried = requests.filter((other) => other.method === method && other.path === url).length;
    requests.push(received);
    server.emit('received', received);
    const found = await answers(received, tried);
    if (typeof found === 'number') response.writeHead(found).end('no');
    else response.end(JSON.stringify(found));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { server, host, requests };
}

const clientOf = (host: string): TrinoClient => new TrinoClient(`http://${host}`, { firstPause: 1 });
const { signal } = new AbortController();
const columns = [{ name: 'n' }];

async function read(client: TrinoClient, given = signal): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const page of client.pages('select 1', given)) rows.push(...page.rows.flat());
  return rows;
}

t.test('rows of all pages are read, from the configured address', async (t) => {
  const { host, requests } = await fakeTrino(t, ({ path }) => {
    if (path === '/v1/statement') return { id: 'q', nextUri: 'https://elsewhere.example/v1/next/1?token=a' };
    if (path === '/v1/next/1?token=a')
      return { id: 'q', columns, data: [[1], [2]], nextUri: `http://${host}/v1/next/2` };
    return { id: 'q', columns, data: [[3]] };
  });
  t.strictSame(await read(new TrinoClient(`http://ann%20b@${host}/lake/facts`)), [1, 2, 3]);
  t.strictSame(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['POST /v1/statement', 'GET /v1/next/1?token=a', 'GET /v1/next/2'],
  );
  t.equal(requests[0]!.body, 'select 1');
  t.match(requests[0]!.headers, { 'x-trino-user': 'ann b', 'x-trino-catalog': 'lake', 'x-trino-schema': 'facts' });
});

t.test('a busy server is asked again', async (t) => {
  const { host } = await fakeTrino(t, ({ method }, tried) => {
    if (tried < 2) return method === 'POST' ? 503 : 429;
    return method === 'POST' ? { id: 'q', nextUri: `http://${host}/next` } : { id: 'q', columns, data: [[1]] };
  });
  t.strictSame(await read(clientOf(host)), [1]);
});

t.test('what is unavailable is 503, with a reason', async (t) => {
  const { host } = await fakeTrino(t, () => 502);
  const expected = { code: 'unavailable', reason: 'trino', retryAfter: 60 };
  await t.rejects(read(clientOf(host)), {
    ...expected,
    message: /the query engine does not answer/,
  });
  // Nothing listens there.
  const away = clientOf('user@127.0.0.1:9');
  await t.rejects(read(away), expected);
  const forgotten = await fakeTrino(t, ({ method }) =>
    method === 'POST' ? { id: 'q', nextUri: `http://${forgotten.host}/next` } : 404,
  );
  await t.rejects(read(clientOf(forgotten.host)), { ...expected, message: /was started again/ });

  const failing = async (errorName: string, errorType = 'INTERNAL_ERROR', message = 'secret details') => {
    const { host: at } = await fakeTrino(t, () => ({ id: 'q7', error: { errorName, errorType, message } }));
    return read(clientOf(at)).then(
      () => new Error('no failure'),
      (error: Error) => error,
    );
  };
  const passing: readonly [name: string, type?: string, message?: string][] = [
    ['REMOTE_TASK_ERROR'],
    ['PAGE_TRANSPORT_TIMEOUT'],
    ['NO_NODES_AVAILABLE'],
    ['TOO_MANY_REQUESTS_FAILED'],
    ['SERVER_SHUTTING_DOWN'],
    ['EXCEEDED_TIME_LIMIT', 'INSUFFICIENT_RESOURCES'],
    ['QUERY_QUEUE_FULL', 'INSUFFICIENT_RESOURCES'],
    ['EXCEEDED_SOMETHING_NEW', 'INSUFFICIENT_RESOURCES'],
    ['HIVE_FILESYSTEM_ERROR', 'EXTERNAL'],
    ['HIVE_CURSOR_ERROR', 'EXTERNAL'],
    ['GENERIC_INTERNAL_ERROR', 'INTERNAL_ERROR', 'java.io.IOException: Failed to open S3 file: s3://secret'],
  ];
  for (const [name, type, message = 'secret details'] of passing) {
    const error = await failing(name, type, message);
    t.match(error, expected, name);
    t.notMatch(error.message, /secret/, 'clients get no details');
    t.match((error.cause as Error).message, `Trino: ${name}: ${message} (query q7)`);
  }
  t.match(await failing('SYNTAX_ERROR', 'USER_ERROR'), { message: /^Trino: SYNTAX_ERROR/, code: undefined });
  const undecodable = await failing('GENERIC_INTERNAL_ERROR', 'INTERNAL_ERROR', 'Could not decompress page');
  t.ok(undecodable instanceof UnreadableHere);
  const opening =
    'Error opening Hive split s3://a/b (offset=0, length=9): Could not decode the dictionary for [device]';
  t.ok((await failing('HIVE_CANNOT_OPEN_SPLIT', 'EXTERNAL', opening)) instanceof UnreadableHere);
});

t.test('a coordinator that hangs is given up by a limit of its own, and not asked again', async (t) => {
  const hangs = new Set(['/v1/statement']);
  const { server, host, requests } = await fakeTrino(t, ({ path }) => {
    if (hangs.has(path)) return new Promise<Answer>(() => {});
    return { id: 'q', nextUri: '/v1/next' };
  });
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  /** Reads, and lets the limit pass once a request that hangs has arrived. */
  const readWithoutAnswer = async (): Promise<void> => {
    const reading = read(new TrinoClient(`http://${host}`, { firstPause: 1, firstAnswer: 20 }));
    do await once(server, 'received');
    while (!hangs.has(requests.at(-1)!.path));
    mock.timers.tick(20);
    await t.rejects(reading, { code: 'unavailable', reason: 'trino', message: /does not answer/ }, [...hangs].join());
  };
  await readWithoutAnswer();
  t.equal(requests.length, 1);
  hangs.clear();
  hangs.add('/v1/next');
  await readWithoutAnswer();
  t.equal(requests.filter(({ method, path }) => method === 'GET' && path === '/v1/next').length, 1);
});

t.test('a wrong password is a failure of the service, and in no message', async (t) => {
  const { host } = await fakeTrino(t, () => 401);
  // Settings refuse a password without https.
  const error = await read(new TrinoClient(`http://user:pass-word@${host}`)).catch((failure: Error) => failure);
  t.match(error, { message: 'Trino answered 401: no', code: undefined });
});

t.test('an aborted query is cancelled', async (t) => {
  const { server, host, requests } = await fakeTrino(t, ({ method }) =>
    method === 'POST' ? { id: 'q', nextUri: `http://${host}/next` } : new Promise<Answer>(() => {}),
  );
  const gone = new AbortController();
  const reading = read(clientOf(host), gone.signal);
  while (requests.length < 2) await once(server, 'received');
  gone.abort(new Error('gone'));
  await t.rejects(reading, { message: 'gone' });
  while (requests.length < 3) await once(server, 'received');
  t.match(requests[2], { method: 'DELETE', path: '/next' });
});

t.test('a query that is aborted before it has an address is cancelled', async (t) => {
  const held = Promise.withResolvers<void>();
  const { server, host, requests } = await fakeTrino(t, async () => {
    await held.promise;
    return { id: 'q', nextUri: `http://${host}/next` };
  });
  const gone = new AbortController();
  const reading = read(clientOf(host), gone.signal);
  while (requests.length < 1) await once(server, 'received');
  gone.abort(new Error('gone'));
  await t.rejects(reading, { message: 'gone' }, 'at once');
  held.resolve();
  while (requests.length < 2) await once(server, 'received');
  t.match(requests[1], { method: 'DELETE', path: '/next' });
  await t.rejects(read(clientOf(host), gone.signal), { message: 'gone' });
  t.equal(requests.length, 2, 'nothing is sent for a client that has gone');
});

const FILE = { file: 'facts/site_daily/Proj1/all-1.parquet', bytes: 100, sha256: '' };

t.test('a file that Trino does not find is damaged; its rows are not an answer', async (t) => {
  let found: unknown[][] = [];
  const { host, requests } = await fakeTrino(t, ({ body }) =>
    body.includes('$file_size')
      ? { id: 'q', columns: [{ name: 'path' }, { name: 'bytes' }], data: found }
      : { id: 'q', columns, data: [[1]] },
  );
  const reader = new TrinoReader(clientOf(host), (file) => `s3://bucket/${file}`);
  const values = { from: '2026-03-01', to: '2026-03-31', device: 'all' };
  const days = () => reader.rows('facts/site_daily', { files: [FILE], signal, values });
  await t.rejects(days(), { name: 'DamagedFile', message: /'s3:\/\/bucket\/facts.*is missing/ });
  found = [[`s3://bucket/${FILE.file}`, 99]];
  await t.rejects(days(), { name: 'DamagedFile', message: /99 bytes instead of 100/ });
  found = [[`s3://bucket/${FILE.file}`, 100]];
  t.strictSame(await days(), [{ n: 1 }]);
  const before = requests.length;
  t.strictSame(await days(), [{ n: 1 }]);
  t.equal(requests.length, before + 1, 'it is not checked again within a minute');
});
