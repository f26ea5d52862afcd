// A report never mixes the data before and after a load that is published meanwhile.
import t from 'tap';
import { CatalogCache } from '../../server/catalog/catalog-cache.ts';
import type { Facts } from '../../server/facts/facts.ts';
import { findReadableProject, type PresetSources } from '../../server/presets/preset.ts';
import { sitePreset } from '../../server/presets/site.ts';
import { makeWorld, NOW, PROJECT } from '../world.ts';

t.test('a query is refused where a load is published before it is planned', async (t) => {
  const { catalog, load } = await makeWorld(t);
  const facts = { siteDays: async () => [], siteTotals: async () => [] } as Partial<Facts> as Facts;
  const catalogCache = new CatalogCache(catalog);
  const sources = { catalog, catalogCache, facts, now: () => NOW } as Partial<PresetSources> as PresetSources;
  const request = {
    workspace: 'acme',
    projects: null,
    id: 'Proj1',
    reader: 'key',
    signal: new AbortController().signal,
  };
  const parse = async () => sitePreset.parse({ period: '7d' }, await findReadableProject(sources, request), NOW);
  const query = await parse();
  t.match(query, { from: '2026-03-04', to: '2026-03-10' });
  await load({ projects: [{ ...PROJECT, synced_through: '2026-03-12' }] });
  await t.rejects(sitePreset.run(query, sources, request), { message: /published meanwhile/ });
  const { answer } = await sitePreset.run(await parse(), sources, request);
  t.match(answer.range, { from: '2026-03-06', to: '2026-03-12' });
});
