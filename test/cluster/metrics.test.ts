// Nodes that share a catalog tell about it once, and each about itself.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { parseExpression } from '../metrics/promql.ts';
import { parseScrape, valuesOf } from '../metrics/scrape-text.ts';
import { type Running, run, start, startServer, until } from '../process.ts';
import { ROOT } from '../readme.ts';
import { facts, PROJECT, WORKSPACE, writeSnapshot } from '../world.ts';
import { makeCluster, skip } from './nodes.ts';

const TABLES = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 10, 20]),
};

function addressOf({ printed }: Running): Promise<string> {
  return until('the address of metrics', () => /"address":"(http:[^"]+)"/.exec(printed.stderr)?.[1]);
}

async function scrape(address: string): Promise<string> {
  // A busy machine may close a connection before it is used.
  const ask = () => fetch(address, { headers: { connection: 'close' } }).catch(() => undefined);
  const response = await until('an answer', ask);
  if (response.status !== 200) throw new Error(`${address} was answered with ${response.status}`);
  return response.text();
}

const namesIn = (text: string): Set<string> =>
  new Set([...parseScrape(text).values()].flatMap(({ samples }) => samples.map(({ name }) => name)));

t.test('two nodes and a process of background jobs', { skip }, async (t) => {
  const { node } = await makeCluster(t);
  const settings = [node({ ORDINATE_METRICS_PORT: '0' }), node({ ORDINATE_METRICS_PORT: '0' })];
  t.match(await run(t, settings[0]!, 'load', writeSnapshot(t, TABLES), '--accept-implausible'), { code: 0 });
  const nodes = await Promise.all(settings.map((one) => startServer(t, one)));
  const working = start(t, node({ ORDINATE_METRICS_PORT: '0' }), 'work');
  const addresses = await Promise.all([...nodes, working].map(addressOf));
  // Jobs have series once they have run.
  await until('a background job to have run', async () => {
    const lastRuns = valuesOf(await scrape(`${addresses[0]}/catalog`), 'ordinate_job_last_run_timestamp_seconds');
    return Object.keys(lastRuns).includes('send-deliveries') || undefined;
  });
  const own = await Promise.all(addresses.map(scrape));
  const catalog = await Promise.all(addresses.slice(0, 2).map((address) => scrape(`${address}/catalog`)));
  const ofCatalog = namesIn(catalog[0]!);

  for (const text of own) {
    t.ok(valuesOf(text, 'ordinate_disk_free_bytes')['']! > 0, 'a disk of its own');
    t.strictSame([...namesIn(text).intersection(ofCatalog)], [], 'nothing of the catalog');
  }
  t.strictSame(valuesOf(catalog[0]!, 'ordinate_loads_total', { kind: 'snapshot' }), {
    published: 1,
    rejected: 0,
    failed: 0,
  });
  t.strictSame(valuesOf(catalog[1]!, 'ordinate_facts_rows'), valuesOf(catalog[0]!, 'ordinate_facts_rows'));
  t.strictSame(valuesOf(own[2]!, 'ordinate_process_up'), { jobs: 1 });
  // With two sources, too, each number is there once.
  const alerts = parse(readFileSync(join(ROOT, 'docs/prometheus/alerts.yml'), 'utf8')) as {
    groups: { rules: { expr: string }[] }[];
  };
  const dashboard = JSON.parse(readFileSync(join(ROOT, 'docs/grafana/ordinate.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const expressions = [
    ...alerts.groups.flatMap(({ rules }) => rules),
    ...dashboard.panels.flatMap(({ targets = [] }) => targets),
  ].map(({ expr }) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'));
  const about = expressions.filter((expr) => parseExpression(expr).selectors.some(({ name }) => ofCatalog.has(name)));
  t.ok(about.length > 20);
  for (const expr of about) {
    const { selectors, groups } = parseExpression(expr);
    t.match(expr, /\bmax(?: by \(\w+(?:, \w+)*\) )?\(/, 'each series once');
    t.notMatch(expr, /\bsum\b/, expr);
    t.notOk(groups.includes('instance'), expr);
    t.notOk(
      selectors.some(({ labels }) => labels.some(({ label }) => label === 'instance')),
      expr,
    );
  }
  // Prometheus gives each series its own `job` and `instance`.
  const labels = [...own, ...catalog].flatMap((text) =>
    [...parseScrape(text).values()].flatMap(({ samples }) => samples.flatMap((sample) => Object.keys(sample.labels))),
  );
  t.strictSame(
    [...new Set(labels)].filter((label) => ['job', 'instance'].includes(label)),
    [],
  );
});
