import { Type } from 'typebox';
import { readCrawlDays } from '../catalog/crawl-days.ts';
import { mergeCrawlDays } from '../domain/crawl.ts';
import { invalidRequest } from '../domain/errors.ts';
import { domainOf, isOfDomain } from '../domain/properties.ts';
import { objects } from '../formats/table.ts';
import { exactText } from './joint-lists.ts';
import { formatParameters, readParameters } from './parameters.ts';
import { projectReference, projectReport, wholeResult } from './report.ts';
import { columnsOf, day, instant, integer, nullable, object, project } from './schemas.ts';

const parameters = {
  page: exactText('The address of a page of the property; without it, the days of the site are answered.'),
  ...formatParameters,
};

const NOT_CONNECTED =
  'The project has no connection to Bing, which tells of its crawler: connect it in the dashboard, or with ordinate connections set --kind bing.';

const count = (description: string) => integer({ minimum: 0, description });

const crawledPage = object('CrawledPage', {
  url: Type.String(),
  isFolder: Type.Boolean({ description: 'Bing knows the address as a folder of pages, not as a page.' }),
  discoveredAt: nullable(instant, 'When Bing first knew of it.'),
  lastCrawlTime: nullable(instant, 'When Bing last fetched it.'),
  httpStatus: nullable(integer({ minimum: 0 }), 'The status of that answer; null where Bing tells none.'),
  documentSize: nullable(integer({ minimum: 0 }), 'Its size in bytes; null where Bing tells none.'),
});

const crawlDay = object('CrawlDay', {
  date: day,
  crawledPages: count('Pages that were fetched.'),
  crawlErrors: count('Pages that could not be fetched.'),
  inIndex: count('Pages of the site that Bing counts in its index.'),
  inLinks: count('Links to the site from other sites.'),
  blockedByRobotsTxt: count('Pages that robots.txt does not allow to crawl.'),
  containsMalware: count('Pages in which Bing found malware.'),
  code2xx: count('Answers with a status of 200 to 299.'),
  code301: count('Answers with status 301.'),
  code302: count('Answers with status 302.'),
  code4xx: count('Answers with a status of 400 to 499.'),
  code5xx: count('Answers with a status of 500 to 599.'),
  otherCodes: count('Answers with another status.'),
});

const answer = object('CrawlAnswer', {
  project,
  engine: Type.String({ description: 'The search engine whose crawler it is: bing.' }),
  fetchedAt: nullable(instant, 'When Bing was asked; null if it told nothing.'),
  reason: nullable(Type.String(), 'Why Bing told nothing now, and what is needed; null if it answered.'),
  page: nullable(crawledPage, 'The page of `page`; null without it, and where Bing does not know it.'),
  days: Type.Array(crawlDay, {
    description: 'The stored days and those that Bing tells, some six months, in order; none with `page`.',
  }),
});

/** What Bing's crawler found: the days of the site, stored ones and those that Bing tells now, or one page. It is no verdict about the index. */
export const crawlReport = projectReport({
  path: '/projects/:id/crawl',
  operation: 'getCrawl',
  tag: 'Site',
  summary: "What Bing's crawler found on the site, or of a page",
  description:
    'Evidence, not a verdict: that a page was crawled does not mean that it is in the index, and Bing tells of no page whether it is. Days of the site are stored by the sync, so that those which Bing no longer tells stay; Bing is asked beside it when this is asked for. What it knows of a page is not stored. Flat rows are the days, or with `page` the page.',
  answer,
  content: 'What was found.',
  examples: { 200: '/projects/Proj1/crawl?page=https%3A%2F%2Fshop.example%2F', 400: '/projects/Proj1/crawl?page=' },
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
  rows: ({ answer: { project, days, page }, isOfPage }) => {
    const head = { name: `${project.domain}-crawl` };
    return isOfPage
      ? objects(head, page === null ? [] : [page], columnsOf(crawledPage))
      : objects(head, days, columnsOf(crawlDay));
  },
  version: wholeResult,
});
