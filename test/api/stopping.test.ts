// A server that stops ends running answers, and refuses what comes too late as the API refuses.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t, { type Test } from 'tap';
import { makeWorld } from '../world.ts';

interface Client {
  readonly socket: Socket;
  /** All that came so far. */
  readonly text: () => string;
  readonly send: (path: string) => void;
  /** Waits for a text of the answer. */
  readonly got: (part: string) => Promise<void>;
}

async function open(t: Test, port: number): Promise<Client> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const got = async (part: string): Promise<void> => {
    while (!text.includes(part)) await once(socket, 'data');
  };
  return {
    socket,
    text: () => text,
    send: (path) => void socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    got,
  };
}

t.test('each request is answered whole, or refused in the format of the API', async (t) => {
  const { app, log } = await makeWorld(t);
  const body = new PassThrough();
  const refusing = Promise.withResolvers<void>();
  app.get('/long', (_request, reply) => reply.send(body));
  // After those of the server.
  app.addHook('preClose', async () => refusing.resolve());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const [long, used, checked, idle] = await Promise.all(Array.from({ length: 4 }, () => open(t, port)));
  long!.send('/long');
  body.write('begun');
  await long!.got('begun');
  for (const client of [used!, checked!, idle!]) {
    client.send('/livez');
    await client.got('{"status":"ok"}');
    t.match(client.text(), /\r\nconnection: keep-alive\r\n/i);
  }
  const expected = (await app.inject('/openapi.json')).body;
  const ends = [used!, checked!, idle!].map(({ socket }) => once(socket, 'close'));
  const closed = app.close();
  const before = idle!.text();
  used!.send('/openapi.json');
  checked!.send('/readyz');
  await Promise.all(ends);
  const [, head, document] = /HTTP\/1\.1 200 OK\r\n[\s\S]*HTTP\/1\.1 200 OK\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(
    used!.text(),
  )!;
  t.match(head, /^connection: close$/im);
  t.equal(document, expected, 'whole');
  t.match(
    checked!.text(),
    /HTTP\/1\.1 503 [\s\S]*\r\nconnection: close\r\n[\s\S]*The service is stopping/i,
    'no longer ready',
  );
  t.equal(idle!.text(), before, 'an idle connection is closed without an answer');

  await refusing.promise;
  long!.send('/livez');
  body.end('ended');
  await once(long!.socket, 'close');
  const [answer, refused] = long!.text().split(/(?=HTTP\/1\.1 503 )/);
  t.match(answer, /^HTTP\/1\.1 200 OK[\s\S]*begun[\s\S]*ended\r\n0\r\n\r\n$/);
  t.match(refused, /^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 5\r\n/i);
  t.match(refused, /\r\nconnection: close\r\n/i);
  const error = { code: 'unavailable', message: 'The service is stopping; try again in a few seconds.' };
  t.equal(refused!.split('\r\n\r\n')[1], JSON.stringify({ error }));
  await closed;
  const lines = log.map((line) => JSON.parse(line) as { msg: string; url?: string; status?: number });
  t.match(
    lines.filter(({ url, status }) => url === '/livez' && status === 503),
    [{ msg: 'answered' }],
    'it is in the log',
  );
});
