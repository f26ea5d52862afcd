// A list is fetched once for all that wait, whole and in order, and no slow or dying party holds up another.
import { generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type ConnectedWorld, connect, connectedWorld, credentialsFile, SECRETS } from '../fakes/connected.ts';
import type { FakeRow } from '../fakes/search-console.ts';
import { startServer } from '../process.ts';
import { isLocal, localOnly } from '../stores.ts';
import { facts, makeWorld, PROJECT } from '../world.ts';

const FINAL = 'from=2026-02-01&to=2026-02-28';
const ROW: FakeRow = { key: '/', clicks: 1, impressions: 2, position: 1 };

/** Queries, each with so many clicks. */
const queriesOf = (count: number, clicksOf: (at: number) => number): FakeRow[] =>
  Array.from({ length: count }, (_, at) => {
    const clicks = clicksOf(at);
    return { key: `query ${at}`, clicks, impressions: clicks + (at % 5), position: 2 };
  });

t.test('50 clients at once make one fetch, and their pages are one list', async (t) => {
  const world = await connectedWorld(t);
  world.google.pages = queriesOf(12_003, (at) => 12_003 - at);
  world.google.delay = 200;
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => world.ask(`/pages?${FINAL}&limit=1000&offset=${at * 1000}`)),
  );
  const urls = answers.flatMap(({ body }) => body.pages as { url: string }[]).map(({ url }) => url);
  t.strictSame([urls, world.google.requests.length], [world.google.pages.map(({ key }) => key), 1]);
});

t.test('the best 50,000 queries once each, in order, through ties in any order', async (t) => {
  const environment = { ORDINATE_PROVIDER_REQUESTS_PER_SECOND: '1000' };
  for (const [offered, clicksOf, truncated, most] of [
    // Each answer brings 25,000 of 60,000 by chance: five are enough, and one asks for more.
    [60_000, () => 1, true, 12],
    [50_000, (at) => Math.max(0, 20_000 - at), false, 24],
  ] as [number, (at: number) => number, boolean, number][]) {
    const { ask, google, fetches } = await connectedWorld(t, { environment });
    google.queries = queriesOf(offered, clicksOf);
    const rows: { query: string; clicks: number; impressions: number }[] = [];
    for (const offset of [0, 25_000]) {
      const { body } = await ask(`/queries?${FINAL}&limit=25000&offset=${offset}`);
      t.match(body, { source: { truncated, capped: true }, paging: { total: 50_000 } });
      rows.push(...body.queries);
    }
    t.equal(new Set(rows.map(({ query }) => query)).size, 50_000);
    const isInOrder = rows.every((next, at) => {
      const before = rows[at - 1];
      const difference = before && (before.clicks - next.clicks || before.impressions - next.impressions);
      return !difference ? before === undefined || Buffer.from(before.query) < Buffer.from(next.query) : difference > 0;
    });
    t.ok(isInOrder, 'clicks, impressions, then the bytes of the text');
    t.match(fetches(), [{ outcome: 'fetched', rows: 50_000, truncated }]);
    t.ok(google.requests.length <= most, `${google.requests.length} requests`);
  }
});

t.test('the wait ends with 503; the fetch goes on and serves the next', async (t) => {
  const { ask, google, fetches } = await connectedWorld(t, { environment: { ORDINATE_LISTS_WAIT_SECONDS: '1' } });
  google.pages = [ROW];
  google.delay = 1300;
  for (const { status, headers, body } of await Promise.all([ask(`/pages?${FINAL}`), ask(`/pages?${FINAL}`)]))
    t.strictSame([status, headers['retry-after'], body.error.code], [503, '60', 'unavailable']);
  while (fetches().length === 0) await sleep(10);
  t.equal((await ask(`/pages?${FINAL}`)).status, 200);
  t.equal(google.requests.length, 1);
});

/** The status of the answer to a request; undefined where its connection ended before. */
async function answerTo(request: ClientRequest): Promise<number | undefined> {
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  } catch {
    return undefined;
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
  const ask = (day: number) => {
    const path = `/api/v1/projects/Proj1/pages?from=2026-02-0${day}&to=2026-02-28`;
    const request = httpRequest({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${world.key}` } });
    const answer = answerTo(request);
    request.end();
    return { request, answer };
  };
  return { seen, ask };
}

t.test('clients that go away stop no fetch that others wait for; one that nobody waits for is not begun', async (t) => {
  const world = await connectedWorld(t, { environment: { ORDINATE_FETCHES_PER_PROPERTY: '1' } });
  const { google } = world;
  google.pages = [ROW];
  google.failure = { how: 'hang', times: 1 };
  const { seen, ask } = await listening(world);
  const first = [ask(1), ask(1)];
  while (google.held.size === 0) await sleep(10);
  const leaving = [first[1]!, ask(2), ask(3), ask(4)];
  const staying = [first[0]!, ask(5), ask(6)];
  while (seen.begun < 7) await sleep(10);
  for (const { request } of leaving) request.destroy();
  while (seen.gone < 4) await sleep(10);
  google.release();
  for (const { answer } of staying) t.equal(await answer, 200);
  const asked = new Set(google.requests.map(({ startDate }) => String(startDate)));
  t.strictSame([...asked].sort(), ['2026-02-01', '2026-02-05', '2026-02-06']);
  t.notMatch(world.log.join(''), /request failed/);
});

t.test('a server that stops ends the requests that wait for providers', localOnly, async (t) => {
  const environment = { ORDINATE_FETCHES_PER_PROPERTY: '1', ORDINATE_PROVIDER_SECONDS: '5' };
  const world = await connectedWorld(t, { environment });
  world.google.failure = { how: 'hang', times: 1 };
  const { ask } = await listening(world);
  const waiting = [ask(1), ask(2)];
  while (world.google.held.size === 0) await sleep(10);
  // Without it, the end waits for the clients, and these for the provider.
  await world.app.close();
  for (const { answer } of waiting) t.equal(await answer, 503);
  t.match(world.fetches(), [{ reason: 'the service is stopping' }]);
  t.strictSame(readdirSync(join(world.dataFolder, 'lists')), []);
});

t.test('some fetches of a property at a time', async (t) => {
  const { ask, google } = await connectedWorld(t, { environment: { ORDINATE_FETCHES_PER_PROPERTY: '2' } });
  google.delay = 50;
  await Promise.all(Array.from({ length: 7 }, (_, day) => ask(`/pages?from=2026-01-01&to=2026-02-0${day + 1}`)));
  t.strictSame([google.requests.length, google.mostUnderWay], [7, 2]);
});

const idOf = (n: number): string => `Prop${'abcdefghijkl'[n]}`;
const propertyOf = (n: number): string => `sc-domain:p${n}.example`;

/** Projects with a property each, at one provider. */
async function manyProperties(t: Test, count: number, environment: NodeJS.ProcessEnv): Promise<ConnectedWorld> {
  const world = await connectedWorld(t, { environment });
  const ids = Array.from({ length: count }, (_, n) => idOf(n));
  await world.load({ projects: ids.map((id, n) => ({ ...PROJECT, id, property: propertyOf(n) })) });
  const { url: endpoint, tokenUrl: tokenEndpoint } = world.google;
  const credentials = credentialsFile(t);
  for (const id of ids) await connect(world.catalog, { credentials, endpoint, tokenEndpoint }, id);
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

t.test('an answer that is too long is given up while it comes, compressed or not', async (t) => {
  for (const how of ['flood', 'bomb'] as const) {
    const world = await connectedWorld(t);
    world.google.failure = { how, times: Number.POSITIVE_INFINITY };
    const before = process.memoryUsage().rss;
    t.equal((await world.ask(`/pages?${FINAL}`)).status, 503, how);
    t.match(world.fetches(), [{ outcome: 'broken', reason: /too long/, requests: 1 }], 'and not asked for again');
    // What is compressed comes through in no time: there, only memory tells.
    if (how === 'flood') t.ok(world.google.flooded < 200_000_000, `${world.google.flooded} bytes of 1,000,000,000`);
    t.ok(process.memoryUsage().rss - before < 400_000_000);
    await world.app.close();
  }
});

t.test('no request fails while loads replace what lists are made from, and no list mixes two loads', async (t) => {
  const pagesOf = (load: number) => ({
    page_daily: facts(
      'date url country',
      ...[6, 5, 4].map((clicks) => ['2026-03-01', `https://shop.example/${load}/${clicks}`, 'usa', clicks, 100, 0]),
    ),
  });
  const world = await makeWorld(t, pagesOf(0));
  let isLoading = true;
  const seen = new Set<string>();
  const read = async (first: number): Promise<void> => {
    for (let day = first; isLoading; day = (day + 1) % 28) {
      const { status, body } = await world.ask(`/pages?from=2026-02-${String(day + 1).padStart(2, '0')}&to=2026-03-05`);
      // The world's key has a limit; this is about other things.
      if (status === 429) return;
      const loads = new Set((body.pages as { url: string }[]).map(({ url }) => url.split('/')[3]));
      seen.add(`${status} of ${loads.size}`);
    }
  };
  const readers = [read(0), read(9), read(18)];
  for (let load = 1; load <= 6; load++) await world.load(pagesOf(load));
  isLoading = false;
  await Promise.all(readers);
  t.strictSame([...seen], ['200 of 1']);
});

t.test('a service account signs for the token endpoint that is set', async (t) => {
  const world = await connectedWorld(t);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const { url: endpoint, tokenUrl: tokenEndpoint } = world.google;
  const credentials = credentialsFile(t, {
    ...{ type: 'service_account', client_email: 'reader@project.example' },
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: 'http://127.0.0.1:9/not-this-one',
  });
  await connect(world.catalog, { credentials, endpoint, tokenEndpoint });
  t.equal((await world.ask(`/pages?${FINAL}`)).status, 200);
  const [header = '', claims = '', signature = ''] = (world.google.grants[0]?.get('assertion') ?? '').split('.');
  t.ok(verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')));
  const { iat: _, exp: __, ...claimed } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const scope = 'https://www.googleapis.com/auth/webmasters.readonly';
  t.strictSame(claimed, { iss: 'reader@project.example', scope, aud: tokenEndpoint });
  for (const secret of SECRETS) t.notOk(world.log.join('').includes(secret));
});

t.test('two processes make one fetch; a kill in mid-fetch blocks nobody and leaves no list', async (t) => {
  const { dataFolder, key, google } = await connectedWorld(t);
  google.pages = [ROW];
  google.delay = 500;
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_LISTS_WAIT_SECONDS: '30' };
  const servers = await Promise.all([startServer(t, settings), startServer(t, settings)]);
  const path = (to: string): string => `/projects/Proj1/pages?from=2026-02-01&to=${to}&limit=1`;
  const answers = await Promise.all(
    servers.flatMap(({ get }) => Array.from({ length: 25 }, () => get(path('2026-02-28'), key))),
  );
  t.equal(new Set(answers.map(({ status, body }) => `${status} ${body.source.fetchedAt}`)).size, 1);
  t.strictSame([answers[0]!.status, google.requests.length], [200, 1]);

  if (!isLocal) return;
  google.delay = 0;
  google.failure = { how: 'hang', times: 1 };
  const [killed, other] = servers;
  const lost = killed.get(path('2026-02-27'), key).catch(() => undefined);
  while (google.requests.length === 1) await sleep(10);
  const waiting = other.get(path('2026-02-27'), key);
  await sleep(50);
  killed.child.kill('SIGKILL');
  t.equal((await waiting).status, 200);
  await lost;
  const lists = readdirSync(join(dataFolder, 'lists')).filter((name) => name.endsWith('.parquet'));
  t.strictSame([google.requests.length, lists.length], [3, 2], 'one list for each question');
});
