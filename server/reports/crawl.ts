import { exactText } from './joint-lists.ts';
import { readParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = { page: exactText('The address of a page; without it, the days of the site are answered.') };

const NOT_CONNECTED =
  'The project has no connection to Bing, which tells of its crawler: connect it with ordinate connections set --kind bing.';

/** What Bing's crawler found: the days of the site, or one page. It is no verdict about the index. */
export const crawlReport = projectReport({
  operation: 'getCrawl',
  parameters,
  parse: (sent) => ({ page: readParameters(parameters, sent).page ?? null }),
  plan: async ({ page }, { catalog, project }, { lists }) => ({
    project,
    page,
    connection: await lists.crawls.connectionOf(catalog, project.id),
  }),
  run: async ({ project, page: url, connection }, { lists }, { signal }) => {
    const wanted = { property: project.property, url };
    const found =
      connection === undefined ? { reason: NOT_CONNECTED } : await lists.crawls.read(connection, wanted, signal);
    const isKnown = !('reason' in found);
    return {
      project: projectReference(project),
      engine: 'bing',
      fetchedAt: isKnown ? new Date(found.fetchedAt).toISOString() : null,
      reason: isKnown ? null : found.reason,
      page: isKnown && url !== null && found.page !== null ? { url, ...found.page } : null,
      days: isKnown ? [...found.days] : [],
    };
  },
});
