// The metrics of a process never wait for a store: what it would have told is left out.
import t from 'tap';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { ServedMetrics } from '../../server/metrics/served-metrics.ts';
import { localOnly } from '../stores.ts';
import { facts, makeLazyWorld, PROJECT, WORKSPACE } from '../world.ts';
import { valuesOf } from './scrape-text.ts';

const TABLES = {
  workspaces: [WORKSPACE],
  projects: [PROJECT],
  site_daily: facts('date device', ['2026-03-09', 'mobile', 1, 2, 3]),
};

const sumOf = (text: string, name: string): number | undefined =>
  Object.values(valuesOf(text, name, {})).reduce<number | undefined>((sum, value) => (sum ?? 0) + value, undefined);

t.test('a scrape while the catalog is away, hangs, and is back', localOnly, async (t) => {
  const { catalog, settings } = await makeLazyWorld(t, TABLES);
  let version: () => ReturnType<OpenCatalog['version']> = () => catalog.version();
  const failing = new Proxy(catalog, {
    get: (target, name) => {
      if (name === 'version') return () => version();
      const found: unknown = Reflect.get(target, name, target);
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    },
  });
  const sources = () => ({ server: async () => [] });
  const metrics = new ServedMetrics({ settings, catalog: failing, sources, storesTimeout: 10 });
  t.teardown(() => metrics.close());
  const hanging = Promise.withResolvers<never>();
  const scrape = async (): Promise<unknown> => {
    const text = await metrics.text();
    t.equal(sumOf(text, 'ordinate_process_up'), 1);
    t.ok(sumOf(text, 'ordinate_disk_free_bytes')! > 0);
    return { up: sumOf(text, 'ordinate_store_up'), files: sumOf(text, 'ordinate_facts_files') };
  };
  version = () => Promise.reject(new Error('away'));
  t.strictSame(await scrape(), { up: 0, files: undefined });
  version = () => hanging.promise;
  t.strictSame(await scrape(), { up: 0, files: undefined }, 'a store that says nothing');
  t.strictSame(await scrape(), { up: 0, files: undefined }, 'the read before is not waited for');
  hanging.reject(new Error('gone'));
  await new Promise(setImmediate);
  version = () => catalog.version();
  const working = new ServedMetrics({ settings, catalog: failing, sources });
  t.teardown(() => working.close());
  const text = await working.text();
  version = () => Promise.reject(new Error('away'));
  const ofCluster = new ServedMetrics({ settings, catalog: failing, sources });
  t.teardown(() => ofCluster.close());
  t.equal(sumOf(await ofCluster.catalogText(), 'ordinate_store_up'), 0);
  t.strictSame([sumOf(text, 'ordinate_store_up'), sumOf(text, 'ordinate_facts_files')], [1, 1]);
});
