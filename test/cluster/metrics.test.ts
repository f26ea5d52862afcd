// Nodes that share a catalog tell about it once, and each about itself.
import t from 'tap';
import { EXPRESSIONS, parseExpression } from '../metrics/promql.ts';
import { metricsOf, parseScrape, valuesOf } from '../metrics/scrape-text.ts';
import { start, startServer, until } from '../process.ts';
import { load, makeCluster, ofDay, skip } from './nodes.ts';

const samplesIn = (text: string) => [...parseScrape(text).values()].flatMap(({ samples }) => samples);
const namesIn = (text: string): Set<string> => new Set(samplesIn(text).map(({ name }) => name));

t.test('two nodes and a process of background jobs', { skip }, async (t) => {
  const { node } = await makeCluster(t);
  const settings = [1, 2, 3].map(() => node({ ORDINATE_METRICS_PORT: '0' }));
  t.match(await load(t, settings[0]!, ofDay(1)), { code: 0 });
  const nodes = await Promise.all(settings.slice(0, 2).map((one) => startServer(t, one)));
  const scrapes = await Promise.all([...nodes, start(t, settings[2]!, 'work')].map(metricsOf));
  // Jobs have series once they have run.
  await until('a background job to have run', async () => {
    const lastRuns = valuesOf(await scrapes[0]!('/catalog'), 'ordinate_job_last_run_timestamp_seconds');
    return Object.keys(lastRuns).includes('send-deliveries') || undefined;
  });
  const own = await Promise.all(scrapes.map((scrape) => scrape()));
  const catalog = await Promise.all(scrapes.slice(0, 2).map((scrape) => scrape('/catalog')));
  const ofCatalog = namesIn(catalog[0]!);
  for (const text of own) {
    t.ok(valuesOf(text, 'ordinate_disk_free_bytes')['']! > 0, 'a disk of its own');
    t.strictSame(namesIn(text).intersection(ofCatalog), new Set(), 'nothing of the catalog');
  }
  const loads = valuesOf(catalog[0]!, 'ordinate_loads_total', { kind: 'snapshot' });
  t.strictSame(loads, { published: 1, rejected: 0, failed: 0 });
  t.strictSame(valuesOf(catalog[1]!, 'ordinate_facts_rows'), valuesOf(catalog[0]!, 'ordinate_facts_rows'));
  t.strictSame(valuesOf(own[2]!, 'ordinate_process_up'), { jobs: 1 });
  // Prometheus gives each series its own `job` and `instance`.
  const labels = [...own, ...catalog].flatMap(samplesIn).flatMap((sample) => Object.keys(sample.labels));
  t.strictSame(new Set(labels).intersection(new Set(['job', 'instance'])), new Set());

  // Rules and panels ask for each number of the catalog once, also with two sources.
  const about = EXPRESSIONS.filter((expr) => parseExpression(expr).selectors.some(({ name }) => ofCatalog.has(name)));
  t.ok(about.length > 20);
  for (const expr of about) {
    const { selectors, groups } = parseExpression(expr);
    t.match(expr, /\bmax(?: by \(\w+(?:, \w+)*\) )?\(/, 'each series once');
    t.notMatch(expr, /\bsum\b/, expr);
    const compared = selectors.flatMap((selector) => selector.labels.map(({ label }) => label));
    t.notOk([...groups, ...compared].includes('instance'), expr);
  }
});
