import { readCrawlDays } from '../catalog/crawl-days.ts';
import { mergeCrawlDays } from '../domain/crawl.ts';
import { invalidRequest } from '../domain/errors.ts';
import { domainOf, isOfDomain } from '../domain/properties.ts';
import { exactText } from './joint-lists.ts';
import { formatParameters, readParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const parameters = {
  page: exactText('The address of a page of the property; without it, the days of the site are answered.'),
  ...formatParameters,
};

const NOT_CONNECTED =
  'The project has no connection to Bing, which tells of its crawler: connect it in the dashboard, or with ordinate connections set --kind bing.';

/** What Bing's crawler found: the days of the site, stored ones and those that Bing tells now, or one page. It is no verdict about the index. */
export const crawlReport = projectReport({
  operation: 'getCrawl',
  parameters,
  parse: (sent, { property }) => {
    const { page = null } = readParameters(parameters, sent);
    // Each is a request of a key that Bing throttles.
    if (page !== null && !isOfDomain(page, property))
      throw invalidRequest(`page must be an address of ${property}, such as https://${domainOf(property)}/.`);
    return { page };
  },
  plan: async ({ page }, { catalog, project }, { lists }) => ({
    project,
    page,
    stored: page === null ? await readCrawlDays(catalog, { project: project.id, property: project.property }) : [],
    connection: await lists.crawls.connectionOf(catalog, project.id),
  }),
  run: async ({ project, page: url, stored, connection }, { lists, now }, { signal }) => {
    const wanted = { property: project.property, url };
    const found =
      connection === undefined ? { reason: NOT_CONNECTED } : await lists.crawls.read(connection, wanted, signal);
    const isKnown = !('reason' in found);
    const answer = {
      project: projectReference(project),
      engine: 'bing',
      fetchedAt: isKnown ? new Date(found.fetchedAt).toISOString() : null,
      reason: isKnown ? null : found.reason,
      page: isKnown && url !== null && found.page !== null ? { url, ...found.page } : null,
      days: mergeCrawlDays(stored, isKnown ? found.days : [], now()),
    };
    return { answer, isOfPage: url !== null };
  },
});

export type CrawlResult = Awaited<ReturnType<typeof crawlReport.run>>;
