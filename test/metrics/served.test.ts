// Metrics cover all processes and stored data, and traces reach the collector without keys.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command } from '../command.ts';
import { connect, credentialsFile } from '../fakes/connected.ts';
import { fakeSearchConsole } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { makeDataFolder, startServer, until } from '../process.ts';
import { ROOT } from '../readme.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { EXPRESSIONS, PANELS, parseExpression, RULES } from './promql.ts';
import { metricsOf, parseScrape, valuesOf } from './scrape-text.ts';

const SITE = facts('date device', ['2026-03-09', 'mobile', 1, 2, 3]);
const ROWS = { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: SITE };
const JOBS =
  'copy-catalog evaluate-alerts inspect-pages prune-facts read-ranking-updates read-sitemaps refresh-lists send-deliveries sweep-facts sweep-lists sync-projects write-digests';

async function requestSocket(socketPath: string): Promise<string> {
  const [response] = (await once(get({ socketPath, path: '/metrics' }), 'response')) as [IncomingMessage];
  return text(response);
}

t.test('a server serves what its processes did and what is stored, on a port and a socket', async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [writeSnapshot(t, ROWS)]);
  const google = await fakeSearchConsole(t);
  google.failure = { how: FAILURES.forbidden, times: 100 };
  const catalog = await openCatalog(sqliteIn(dataFolder));
  const { url: endpoint, tokenUrl: tokenEndpoint } = google;
  await connect(catalog, { credentials: credentialsFile(t), endpoint, tokenEndpoint });
  await catalog.close();
  const socket = join(temporaryFolder(t), 'metrics.sock');
  const settings = { ORDINATE_DATA: dataFolder, ORDINATE_METRICS_PORT: '0', ORDINATE_METRICS_SOCKET: socket };
  const unsent = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_BSP_SCHEDULE_DELAY: '50' };
  const server = await startServer(t, { ...settings, ...unsent, ORDINATE_JOBS: 'on' });
  const scrape = await metricsOf(server);
  const runs = async (): Promise<string[]> =>
    Object.keys(valuesOf(await scrape(), 'ordinate_job_runs_total', { process: 'jobs', outcome: 'succeeded' })).sort();
  await until('all jobs to have run', async () => (await runs()).join(' ') === JOBS || undefined);
  t.equal((await server.get('/projects/Proj1/site', keys[0]!)).status, 200);
  t.equal((await server.get('/projects/Proj1/queries', keys[0]!)).status, 409, 'the provider refuses');

  const text = await scrape();
  t.strictSame(valuesOf(text, 'ordinate_process_up'), { jobs: 1, server: 1 });
  t.strictSame(valuesOf(text, 'ordinate_sync_runs_total', { process: 'jobs' }), { 'access-lost': 1 });
  t.strictSame(valuesOf(text, 'ordinate_alert_evaluations_total', { process: 'jobs' }), { ok: 1 });
  const asked = valuesOf(text, 'ordinate_provider_requests_total', { outcome: 'access-lost' });
  t.strictSame(asked, { 'search-console server': 1, 'search-console jobs': google.requests.length - 1 });
  t.strictSame(valuesOf(text, 'ordinate_sync_projects'), { pending: 0, ok: 0, warning: 0, failed: 1 });
  t.ok(valuesOf(text, 'ordinate_leases_total', { process: 'jobs' })['taken']! >= JOBS.split(' ').length);
  t.strictSame(valuesOf(text, 'ordinate_deliveries_pending'), { '': 0 });
  t.strictSame(valuesOf(text, 'ordinate_facts_rows'), { site_daily: 1 });
  t.strictSame(valuesOf(text, 'ordinate_backup_last_timestamp_seconds'), { '': 0 }, 'never');
  for (const name of ['ordinate_disk_free_bytes', 'ordinate_disk_size_bytes', 'ordinate_catalog_bytes']) {
    t.ok(valuesOf(text, name)['']! > 0, name);
  }
  for (const name of ['process_resident_memory_bytes', 'nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes']) {
    const memory = valuesOf(text, name);
    t.ok(memory['server']! > 0 && memory['jobs']! > 0, name);
  }
  t.notMatch(text, /ord_live|acme|refresh-token|client-secret|shop\.example/);
  t.same(parseScrape(await requestSocket(socket)).size, parseScrape(text).size, 'the socket answers the same');

  const loads = () => scrape().then((now) => valuesOf(now, 'ordinate_loads_total', { kind: 'snapshot' }));
  t.strictSame(await loads(), { published: 1, rejected: 0, failed: 0 });
  const wrong = writeSnapshot(t, { site_daily: SITE.map((row) => ({ ...row, clicks: -1 })) });
  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'load', wrong)).code, 1);
  const more = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-08', 'mobile', 1, 2, 3]) });
  const before = Date.now() / 1000;
  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'load', more)).code, 0);
  t.strictSame(await loads(), { published: 2, rejected: 1, failed: 0 }, 'commands run in other processes');
  const after = await scrape();
  t.strictSame(valuesOf(after, 'ordinate_load_last_rows', { kind: 'snapshot' }), { '': 1 });
  t.ok(valuesOf(after, 'ordinate_load_last_timestamp_seconds', { kind: 'snapshot' })['']! >= before);

  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'backup', join(temporaryFolder(t), 'backup'))).code, 0);
  t.ok(valuesOf(await scrape(), 'ordinate_backup_last_timestamp_seconds')['']! >= before);

  checkRules(t);
  checkPanels(t);
  t.ok(EXPRESSIONS.length > 40);
  for (const expr of EXPRESSIONS) checkExpression(t, expr, after);

  const address = /"address":"(http:[^"]+)"/.exec(server.printed.stderr)![1]!;
  for (const [path, method, expected] of [
    ['/', 'GET', 404],
    ['/metrics', 'POST', 405],
    ['/metrics', 'HEAD', 200],
  ] as const) {
    t.equal((await fetch(new URL(path, address), { method })).status, expected, `${method} ${path}`);
  }
  t.equal((await fetch(`${server.address}/metrics`)).status, 404, 'the port of the API has none');
  t.match(await command({ ...settings, PORT: '0' }, 'serve'), {
    code: 1,
    stderr: /ORDINATE_METRICS_SOCKET: '.*' is in use already; choose another one/,
  });

  const worker = Number(await until('its id', () => /"worker":(\d+)/.exec(server.printed.stderr)?.[1]));
  process.kill(worker, 'SIGSTOP');
  try {
    t.strictSame(valuesOf(await scrape(), 'ordinate_process_up'), { jobs: 0, server: 1 }, 'a process that hangs');
  } finally {
    process.kill(worker, 'SIGCONT');
  }

  // A collector that is away is only a warning.
  const warned = () => /traces could not be sent to the collector/.test(server.printed.stderr) || undefined;
  await until('the warning', warned);
  server.child.kill('SIGKILL');
  await server.ended;
  t.ok(existsSync(socket), 'the socket of a killed server is still there');
  await traces(t, dataFolder, keys[0]!, socket);
  writeFileSync(socket, 'mine');
  t.match(
    await command({ ...settings, PORT: '0' }, 'serve'),
    { code: 1, stderr: /ORDINATE_METRICS_SOCKET: '.*' is in use already/ },
    'other files are not replaced',
  );
  t.equal(readFileSync(socket, 'utf8'), 'mine');
});

/** All that expressions read is in a scrape. Values of `status` and `outcome` depend on what happened. */
function checkExpression(t: Test, expr: string, text: string): void {
  const samples = [...parseScrape(text).values()].flatMap((family) => family.samples);
  const { selectors, groups } = parseExpression(expr);
  for (const { name, labels } of selectors) {
    // Prometheus makes it.
    if (name === 'up') continue;
    const series = samples.filter((sample) => sample.name === name);
    t.ok(series.length > 0, `${name} is in a scrape`);
    for (const { label, equals } of labels) {
      const values = new Set(series.map((sample) => (label === 'instance' ? '' : sample.labels[label])));
      t.ok(!values.has(undefined), `${name} has the label ${label}`);
      if (equals !== null && label !== 'status')
        t.ok(values.has(equals), `${name} has a series with ${label}="${equals}"`);
    }
  }
  const read = samples.filter((sample) => selectors.some(({ name }) => name === sample.name));
  for (const label of groups.filter((group) => group !== 'instance')) {
    t.ok(
      read.some(({ labels }) => label in labels),
      `${label} is a label of what ${expr} reads`,
    );
  }
}

function checkRules(t: Test): void {
  const runbook = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const sections = [...runbook.matchAll(/^### (Ordinate\w+)$/gm)].map(([, name]) => name);
  t.ok(RULES.length > 10);
  t.strictSame(
    sections,
    RULES.map(({ alert }) => alert),
    'the runbook has a section for each alert, in the same order',
  );
  for (const { alert, for: duration, labels, annotations } of RULES) {
    t.match(duration ?? '0m', /^\d+[mh]$/, alert);
    t.match(labels, { severity: /^(critical|warning)$/ }, alert);
    t.match(annotations.summary, /^\S.*\.$/, alert);
    t.equal(annotations.runbook_url, `http://127.0.0.1:3000/docs/guide/operate#${alert.toLowerCase()}`);
    const section = runbook.split(`### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';
    for (const part of ['**Means.**', '**Look at.**', '**Do.**']) t.ok(section.includes(part), `${alert}: ${part}`);
  }
}

function checkPanels(t: Test): void {
  const isApart = (a: (typeof PANELS)[0]['gridPos'], b: typeof a): boolean =>
    a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
  const places = PANELS.map(({ gridPos }) => gridPos);
  t.ok(
    places.every((one, index) => places.slice(index + 1).every((other) => isApart(one, other))),
    'panels do not overlap',
  );
}

/** A collector of traces. */
async function fakeCollector(t: Test): Promise<{ url: string; texts: string[] }> {
  const texts: string[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then((sent) => {
      texts.push(sent);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, texts };
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** A collector gets a trace of each request, without keys. The server replaces the socket that is there, and removes it. */
async function traces(t: Test, dataFolder: string, key: string, socket: string): Promise<void> {
  const { url, texts } = await fakeCollector(t);
  const settings = { ORDINATE_METRICS_SOCKET: socket, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  const server = await startServer(t, { ORDINATE_DATA: dataFolder, ...settings });
  await until('its socket', () => /"address":"unix:/.test(server.printed.stderr) || undefined);
  t.ok(parseScrape(await requestSocket(socket)).size > 10);
  t.equal((await server.get('/projects/Proj1/site', key)).status, 200);
  t.equal((await server.get(`/projects/Proj1/site?period=x&key=${key}`, key)).status, 400);
  const withKey = { headers: { authorization: `Bearer ${key}` } };
  t.equal((await fetch(`${server.address}/api/v1/projects/Proj1/site.csv`, withKey)).status, 200);
  t.equal((await server.get(`/${key}/${key.toUpperCase()}?a=${encodeURIComponent(`%${key}`)}`, key)).status, 404);
  const parent = '0af7651916cd43dd8448eb211c80319c';
  await fetch(`${server.address}/livez?x=1`, { headers: { traceparent: `00-${parent}-b7ad6b7169203331-01` } });
  // What was not sent yet is sent before the process ends.
  server.child.kill('SIGTERM');
  t.equal((await server.ended).code, 0);
  t.notOk(existsSync(socket), 'the socket is removed');
  const spans = texts.flatMap((text) =>
    (JSON.parse(text) as Export).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((one) => one.spans)),
  );
  const site = 'GET /api/v1/projects/:id/site';
  t.strictSame(
    spans.map(({ name }) => name).filter((name) => name.startsWith('GET ')),
    ['GET /livez', site, site, `${site}.csv`, 'GET none', 'GET /livez'],
    'the first is that of the server itself, before it is ready',
  );
  const attributesOf = (name: string) =>
    Object.fromEntries(
      spans.findLast((span) => span.name === name)!.attributes.map(({ key: of, value }) => [of, value.stringValue]),
    );
  t.match(attributesOf(site), { 'http.route': '/api/v1/projects/:id/site', 'url.path': '/api/v1/projects/Proj1/site' });
  t.match(attributesOf(`${site}.csv`), { 'http.route': '/api/v1/projects/:id/site.csv' });
  t.match(attributesOf('GET /livez'), { 'url.path': '/livez', 'url.query': 'x=1' });
  t.equal(spans.findLast(({ name }) => name === 'GET /livez')?.traceId, parent, 'it continues the trace of the client');
  t.notMatch(texts.join('\n'), new RegExp(`${key.slice('ord_live_'.length)}|authorization|bearer`, 'i'));
  t.match(texts.join('\n'), /"ordinate"/);
  t.notMatch(server.printed.stderr, /could not be sent/);
}

t.test('malformed settings are refused', async (t) => {
  for (const [name, value] of Object.entries({
    ORDINATE_METRICS_PORT: 'on',
    ORDINATE_METRICS_HOST: 'a b',
    ORDINATE_METRICS_SOCKET: `/${'x'.repeat(200)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  })) {
    const ended = await command({ ORDINATE_DATA: temporaryFolder(t), [name]: value }, 'verify');
    t.match(ended, { code: 1, stderr: new RegExp(`${name} must be`) });
  }
});
