// Metrics cover all processes and stored data, and traces reach the collector without keys.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { command } from '../command.ts';
import { connect, credentialsFile } from '../fakes/connected.ts';
import { fakeSearchConsole } from '../fakes/search-console.ts';
import { FAILURES } from '../fakes/search-console-failures.ts';
import { environmentOf, makeDataFolder, type Running, start, startServer, until } from '../process.ts';
import { ROOT } from '../readme.ts';
import { facts, PROJECT, temporaryFolder, WORKSPACE, writeSnapshot } from '../world.ts';
import { parseExpression } from './promql.ts';
import { parseScrape, valuesOf } from './scrape-text.ts';

const SITE = facts('date device', ['2026-03-09', 'mobile', 1, 2, 3]);
const ROWS = { workspaces: [WORKSPACE], projects: [PROJECT], site_daily: SITE };
const ALL_JOBS = [
  ...[
    'evaluate-alerts',
    'inspect-pages',
    'prune-facts',
    'read-ranking-updates',
    'read-sitemaps',
    'refresh-lists',
    'send-deliveries',
    'sweep-facts',
    'sweep-lists',
    'sync-projects',
  ],
  'write-digests',
];

/** Where a process says that it serves metrics. */
function addressOf({ printed }: Running, scheme: 'http' | 'unix'): Promise<string> {
  return until('the address of metrics', () => new RegExp(`"address":"(${scheme}:[^"]+)"`).exec(printed.stderr)?.[1]);
}

async function scrape(address: string): Promise<string> {
  // A kept connection may be closed by the server just when a busy machine uses it again.
  const response = await fetch(address, { headers: { connection: 'close' } });
  if (response.status !== 200) throw new Error(`${address} was answered with ${response.status}`);
  return response.text();
}

function requestSocket(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/metrics' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
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
  const server = await startServer(t, { ...settings, ORDINATE_JOBS: 'on' });
  const address = await addressOf(server, 'http');
  const runs = async (): Promise<Record<string, number>> =>
    valuesOf(await scrape(address), 'ordinate_job_runs_total', { process: 'jobs', outcome: 'succeeded' });
  await until('all jobs to have run', async () =>
    Object.keys(await runs()).length === ALL_JOBS.length ? true : undefined,
  );
  t.equal((await server.get('/projects/Proj1/site', keys[0]!)).status, 200);
  t.equal((await server.get('/projects/Proj1/queries', keys[0]!)).status, 409, 'the provider refuses');

  const text = await scrape(address);
  t.strictSame(Object.keys(await runs()).sort(), ALL_JOBS);
  t.strictSame(valuesOf(text, 'ordinate_process_up'), { jobs: 1, server: 1 });
  t.strictSame(valuesOf(text, 'ordinate_sync_runs_total', { process: 'jobs' }), { 'access-lost': 1 });
  t.strictSame(valuesOf(text, 'ordinate_alert_evaluations_total', { process: 'jobs' }), { ok: 1 });
  const asked = valuesOf(text, 'ordinate_provider_requests_total', { outcome: 'access-lost' });
  t.strictSame(asked, { 'search-console server': 1, 'search-console jobs': google.requests.length - 1 });
  t.strictSame(valuesOf(text, 'ordinate_sync_projects'), { pending: 0, ok: 0, warning: 0, failed: 1 });
  t.ok(valuesOf(text, 'ordinate_leases_total', { process: 'jobs' })['taken']! >= ALL_JOBS.length);
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

  const loads = () => scrape(address).then((now) => valuesOf(now, 'ordinate_loads_total', { kind: 'snapshot' }));
  t.strictSame(await loads(), { published: 1, rejected: 0, failed: 0 });
  const wrong = writeSnapshot(t, { site_daily: SITE.map((row) => ({ ...row, clicks: -1 })) });
  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'load', wrong)).code, 1);
  const more = writeSnapshot(t, { site_daily: facts('date device', ['2026-03-08', 'mobile', 1, 2, 3]) });
  const before = Date.now() / 1000;
  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'load', more)).code, 0);
  t.strictSame(await loads(), { published: 2, rejected: 1, failed: 0 }, 'commands run in other processes');
  const after = await scrape(address);
  t.strictSame(valuesOf(after, 'ordinate_load_last_rows', { kind: 'snapshot' }), { '': 1 });
  t.ok(valuesOf(after, 'ordinate_load_last_timestamp_seconds', { kind: 'snapshot' })['']! >= before);

  t.equal((await command({ ORDINATE_DATA: dataFolder }, 'backup', join(temporaryFolder(t), 'backup'))).code, 0);
  t.ok(valuesOf(await scrape(address), 'ordinate_backup_last_timestamp_seconds')['']! >= before);

  checkRules(t, after);
  checkDashboard(t, after);

  const other = async (path: string, method: string): Promise<number> =>
    (await fetch(new URL(path, address), { method })).status;
  t.strictSame(
    [await other('/', 'GET'), await other('/metrics', 'POST'), await other('/metrics', 'HEAD')],
    [404, 405, 200],
  );
  t.equal((await fetch(`${server.address}/metrics`)).status, 404, 'the port of the API has none');
  t.match(await command({ ...settings, PORT: '0' }, 'serve'), {
    code: 1,
    stderr: /ORDINATE_METRICS_SOCKET: '.*' is in use already; choose another one/,
  });

  const worker = Number(await until('its id', () => /"worker":(\d+)/.exec(server.printed.stderr)?.[1]));
  process.kill(worker, 'SIGSTOP');
  try {
    t.strictSame(
      valuesOf(await scrape(address), 'ordinate_process_up'),
      { jobs: 0, server: 1 },
      'a process that hangs',
    );
  } finally {
    process.kill(worker, 'SIGCONT');
  }

  server.child.kill('SIGKILL');
  await server.ended;
  t.ok(existsSync(socket), 'the socket of a killed server is still there');
  const unsent = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '300' };
  const next = await startServer(t, { ...settings, ...unsent });
  await addressOf(next, 'unix');
  t.ok(parseScrape(await requestSocket(socket)).size > 10, 'and is replaced');
  t.equal((await next.get('/projects/Proj1/site', keys[0]!)).status, 200);
  next.child.kill('SIGTERM');
  t.equal((await next.ended).code, 0);
  t.match(
    next.printed.stderr,
    /traces could not be sent to the collector/,
    'a collector that is away is only a warning',
  );
  t.notOk(existsSync(socket), 'the socket is removed');
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

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

function checkRules(t: Test, text: string): void {
  const file = readFileSync(join(ROOT, 'docs/prometheus/alerts.yml'), 'utf8');
  const { groups } = parse(file) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);
  const runbook = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const sections = [...runbook.matchAll(/^### (Ordinate\w+)$/gm)].map(([, name]) => name);
  t.ok(rules.length > 10);
  t.strictSame(
    sections,
    rules.map(({ alert }) => alert),
    'the runbook has a section for each alert, in the same order',
  );
  for (const { alert, expr, for: duration, labels, annotations } of rules) {
    checkExpression(t, expr, text);
    t.match(duration ?? '0m', /^\d+[mh]$/, alert);
    t.match(labels, { severity: /^(critical|warning)$/ }, alert);
    t.match(annotations.summary, /^\S.*\.$/, alert);
    t.equal(annotations.runbook_url, `http://127.0.0.1:3000/docs/guide/operate#${alert.toLowerCase()}`);
    const section = runbook.split(`### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';
    for (const part of ['**Means.**', '**Look at.**', '**Do.**']) t.ok(section.includes(part), `${alert}: ${part}`);
  }
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

function checkDashboard(t: Test, text: string): void {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/grafana/ordinate.json'), 'utf8')) as { panels: Panel[] };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  t.ok(expressions.length > 30);
  for (const expr of expressions) {
    // Variables of Grafana.
    checkExpression(t, expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'), text);
  }
  const isApart = (a: Panel['gridPos'], b: Panel['gridPos']): boolean =>
    a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
  const places = panels.map(({ gridPos }) => gridPos);
  t.ok(
    places.every((one, index) => places.slice(index + 1).every((other) => isApart(one, other))),
    'panels do not overlap',
  );
}

t.test('work serves the metrics of its process alone', async (t) => {
  const { dataFolder } = await makeDataFolder(t, [writeSnapshot(t, ROWS)]);
  const working = start(t, { ORDINATE_DATA: dataFolder, ORDINATE_METRICS_PORT: '0' }, 'work');
  const address = await addressOf(working, 'http');
  await until('a job to have run', async () =>
    Object.keys(valuesOf(await scrape(address), 'ordinate_job_runs_total')).length > 0 ? true : undefined,
  );
  t.strictSame(valuesOf(await scrape(address), 'ordinate_process_up'), { jobs: 1 });
  working.child.kill('SIGTERM');
  t.equal((await working.ended).code, 0);
});

/** A collector of traces; returns what it got, as text. */
async function fakeCollector(t: Test): Promise<{ url: string; spans: () => Span[]; texts: string[] }> {
  const texts: string[] = [];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    incoming.on('end', () => {
      texts.push(text);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  t.teardown(() => server.close());
  const spans = (): Span[] =>
    texts.flatMap((text) =>
      (JSON.parse(text) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, texts };
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

t.test('a collector gets a trace of each request, without keys', async (t) => {
  const { dataFolder, keys } = await makeDataFolder(t, [writeSnapshot(t, ROWS)]);
  const collector = await fakeCollector(t);
  const server = await startServer(t, { ORDINATE_DATA: dataFolder, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const [key = ''] = keys;
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
  const spans = collector.spans();
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
  const secret = key.slice('ord_live_'.length);
  t.notMatch(collector.texts.join('\n'), new RegExp(secret, 'i'));
  t.notMatch(collector.texts.join('\n'), /authorization|bearer/i);
  t.match(collector.texts.join('\n'), /"ordinate"/);
  t.notMatch(server.printed.stderr, /could not be sent/);
});

t.test('malformed settings are refused', async (t) => {
  for (const [name, value] of Object.entries({
    ORDINATE_METRICS_PORT: 'on',
    ORDINATE_METRICS_HOST: 'a b',
    ORDINATE_METRICS_SOCKET: `/${'x'.repeat(200)}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  })) {
    const { code, stderr } = await command(
      environmentOf({ ORDINATE_DATA: temporaryFolder(t), [name]: value }),
      'verify',
    );
    t.equal(code, 1);
    t.match(stderr, new RegExp(`${name} must be`));
  }
});
