// Clients of a server that stops under load see whole answers, or errors of the API.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { isNight } from '../night.ts';
import { makeDataFolder, startServer, until } from '../process.ts';
import { facts, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';

const snapshot = writeSnapshot(t, {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-01', 'desktop', 3, 100, 900]),
});

interface Load {
  readonly url: string;
  readonly headers: Record<string, string>;
  /** Whether requests share a connection. */
  readonly keepAlive: boolean;
  readonly onAnswer: () => void;
}

/** Sends requests until nobody listens any more. Returns what it got instead of answers and errors of the API. */
async function keepAsking({ url, headers, keepAlive, onAnswer }: Load): Promise<string[]> {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  const faults: string[] = [];
  for (;;) {
    const asked = request(url, { agent, headers });
    try {
      asked.end();
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      const body = await text(response);
      onAnswer();
      const { connection, 'retry-after': retryAfter } = response.headers;
      const isError = /^\{"error":\{"code":"unavailable",/.test(body) && retryAfter !== undefined;
      if (response.statusCode! >= 500 && !(isError && connection === 'close')) faults.push(body);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ECONNREFUSED') break;
      faults.push(`${message}, on a ${asked.reusedSocket ? 'used' : 'new'} connection`);
    }
  }
  agent.destroy();
  return faults;
}

for (const words of isNight ? [[], ['--workers', '2']] : [[]]) {
  t.test(`60 clients of a server that stops: serve ${words.join(' ')}`, async (t) => {
    const { dataFolder, keys } = await makeDataFolder(t, [snapshot]);
    const server = await startServer(t, { ORDINATE_DATA: dataFolder }, ...words);
    const paths = ['/livez', '/api/v1/projects/Proj1/site?period=28d', '/docs', '/api/v1/projects'];
    let answers = 0;
    const clients = Array.from({ length: 60 }, (_, number) =>
      keepAsking({
        url: server.address + paths[number % paths.length]!,
        headers: { authorization: `Bearer ${keys[0]!}` },
        keepAlive: number % 3 !== 0,
        onAnswer: () => {
          answers += 1;
        },
      }),
    );
    await until('the load', () => (answers > 1000 ? true : undefined));
    server.child.kill('SIGTERM');
    t.strictSame((await Promise.all(clients)).flat(), [], 'whole answers and errors of the API only');
    t.equal((await server.ended).code, 0);
  });
}
