import t from 'tap';
import { CatalogCache } from '../../server/catalog/catalog-cache.ts';
import { findReportProject, planReport, type ReportSources } from '../../server/reports/report.ts';
import { siteReport } from '../../server/reports/site.ts';
import { makeWorld, NOW, PROJECT } from '../world.ts';

t.test('a query is parsed again where a load is published before it is planned', async (t) => {
  const { catalog, load } = await makeWorld(t);
  const catalogCache = new CatalogCache(catalog);
  const sources = { catalog, catalogCache, now: () => NOW } as Partial<ReportSources> as ReportSources;
  const request = { workspace: 'acme', projects: null, id: 'Proj1', parameters: { period: '7d' } };
  const query = siteReport.parse(request.parameters, await findReportProject(sources, request), NOW);
  t.match(query, { from: '2026-03-04', to: '2026-03-10' });
  await load({ projects: [{ ...PROJECT, synced_through: '2026-03-12' }] });
  const plan = await planReport(siteReport, query, sources, request);
  t.match(plan, { query: { from: '2026-03-06', to: '2026-03-12' }, project: { syncedThrough: '2026-03-12' } });
});
