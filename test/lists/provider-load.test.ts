// A slow, stuck or oversized provider answer does not hold up other lists or the stop of the server.
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Session } from '../../server/facts/duckdb/engine.ts';
import { type ConnectedWorld, connect, connectedWorld, credentialsFile } from '../fakes/connected.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { facts, makeWorld, PROJECT } from '../world.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
const ROW = { key: '/', clicks: 1, impressions: 2, position: 1 };

t.test('an answer that is too long is given up while it comes, compressed or not', async (t) => {
  for (const how of [FAILURES.flood, FAILURES.bomb]) {
    const world = await connectedWorld(t);
    world.google.failure = { how, times: Number.POSITIVE_INFINITY };
    const before = process.memoryUsage().rss;
    t.equal((await world.ask(`/pages?${FINAL}`)).status, 503, how);
    t.match(world.fetches(), [{ outcome: 'broken', reason: /too long/, requests: 1 }], 'and not asked for again');
    // What is compressed comes through in no time: there, only memory tells.
    if (how === 'flood') t.ok(world.google.flooded < 200_000_000, `${world.google.flooded} bytes of 1,000,000,000`);
    t.ok(process.memoryUsage().rss - before < 400_000_000);
    world.google.failure = undefined;
    world.google.pages = [ROW];
    t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
    await world.app.close();
  }
});

const idOf = (n: number): string => `Prop${'abcdefghijkl'[n]}`;
const propertyOf = (n: number): string => `sc-domain:p${n}.example`;

/** A world with more projects, each with a property of its own at the same provider. */
async function manyProperties(t: Test, count: number, environment: NodeJS.ProcessEnv): Promise<ConnectedWorld> {
  const world = await connectedWorld(t, { environment });
  const projects = Array.from({ length: count }, (_, n) => ({
    ...PROJECT,
    id: idOf(n),
    property: propertyOf(n),
  }));
  await world.load({ projects });
  const { url: endpoint, tokenUrl: tokenEndpoint } = world.google;
  const credentials = credentialsFile(t);
  for (const { id } of projects) await connect(world.catalog, { credentials, endpoint, tokenEndpoint }, id);
  world.google.pages = [ROW];
  return world;
}

t.test('a provider that does not answer for some properties keeps the others from nothing', async (t) => {
  const world = await manyProperties(t, 12, { ORDINATE_FETCHES: '4', ORDINATE_LISTS_WAIT_SECONDS: '6' });
  for (let n = 0; n < 11; n++) world.google.silent.add(propertyOf(n));
  // Three lists of each of eleven properties: nine more wait for places than there are.
  const silent = Array.from({ length: 33 }, (_, n) =>
    world.get(`/projects/${idOf(n % 11)}/pages?from=2026-02-0${1 + (n % 3)}&to=2026-02-28`),
  );
  while (world.google.requests.length < 4) await sleep(10);
  t.equal((await world.get(`/projects/${idOf(11)}/pages?${FINAL}`)).status, 200);
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
  await world.app.close();
  for (const { status } of await Promise.all(silent)) t.equal(status, 503);
});

/** The status of the answer to a request; undefined where its connection ended before. */
async function answerTo(request: ClientRequest): Promise<{ status?: number | undefined }> {
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode };
  } catch {
    return {};
  }
}

/** A client of a server that listens, and what the server has seen of its clients. */
async function listening(world: ConnectedWorld) {
  await world.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = world.app.server.address() as AddressInfo;
  const seen = { begun: 0, gone: 0 };
  world.app.server.on('request', (_request, response) => {
    seen.begun++;
    response.on('close', () => seen.gone++);
  });
  const ask = (path: string) => {
    const headers = { authorization: `Bearer ${world.key}` };
    const request = httpRequest({ port, host: '127.0.0.1', path: `/api/v1/projects/Proj1${path}`, headers });
    const answer = answerTo(request);
    request.end();
    return { request, answer };
  };
  return { seen, ask };
}

t.test('a fetch that nobody waits for any more is not begun', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_FETCHES_PER_PROPERTY: '1' } });
  const { google } = world;
  google.pages = [ROW];
  google.failure = { how: 'hang', times: 1 };
  const { seen, ask } = await listening(world);
  const askFrom = (day: number) => ask(`/pages?from=2026-02-0${day}&to=2026-02-28`);
  const first = askFrom(1);
  while (google.held.size === 0) await sleep(10);
  const leaving = [askFrom(2), askFrom(3), askFrom(4)];
  const staying = [askFrom(5), askFrom(6)];
  while (seen.begun < 6) await sleep(10);
  for (const { request } of leaving) request.destroy();
  while (seen.gone < 3) await sleep(10);
  google.release();
  for (const { answer } of [first, ...staying]) t.equal((await answer).status, 200);
  const asked = new Set(google.requests.map(({ startDate }) => String(startDate)));
  t.strictSame(
    [...asked].sort((a, b) => a.localeCompare(b)),
    ['2026-02-01', '2026-02-05', '2026-02-06'],
  );
});

t.test('a server that stops ends the requests that wait for providers', async (t) => {
  const world = await connectedWorld(t, {
    environment: { ORDINATE_FETCHES_PER_PROPERTY: '1', ORDINATE_PROVIDER_SECONDS: '5' },
  });
  world.google.failure = { how: 'hang', times: 1 };
  const { ask } = await listening(world);
  const waiting = [ask(`/pages?${FINAL}`), ask('/pages?from=2026-02-02&to=2026-02-28')];
  while (world.google.held.size === 0) await sleep(10);
  // Without it, the end waits for the clients, and these for the provider.
  await world.app.close();
  for (const { answer } of waiting) t.equal((await answer).status, 503);
  t.match(world.fetches(), [{ reason: 'the service is stopping' }]);
});

t.test('lists are computed from own facts one at a time', async (t) => {
  const world = await makeWorld(t, {
    page_daily: facts('date url country', ['2026-03-01', 'https://shop.example/', 'usa', 1, 2, 0]),
  });
  const runFile = Reflect.get(Session.prototype, 'runFile') as (
    this: Session,
    ...parameters: Parameters<Session['runFile']>
  ) => Promise<number>;
  let computing = 0;
  let most = 0;
  Session.prototype.runFile = async function (this: Session, name, ...more) {
    if (!name.startsWith('lists/rank_')) return runFile.call(this, name, ...more);
    most = Math.max(most, ++computing);
    await sleep(5);
    return runFile.call(this, name, ...more).finally(() => computing--);
  };
  t.teardown(() => {
    Session.prototype.runFile = runFile;
  });
  const days = [1, 2, 3, 4, 5, 6];
  const answers = await Promise.all(days.map((day) => world.ask(`/pages?from=2026-02-0${day}&to=2026-03-05`)));
  t.ok(answers.every(({ status }) => status === 200));
  t.equal(most, 1);
});
