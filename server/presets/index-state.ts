import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { connectionsOf } from '../catalog/connections.ts';
import {
  eachInspectedPage,
  findInspectedPage,
  type InspectedPage,
  type InspectedPagesQuery,
  listInspectedPages,
  listInspectionChanges,
  readCrawlDays,
  readInspectionSchedule,
  readSitemaps,
} from '../catalog/inspections.ts';
import type { Project } from '../catalog/projects.ts';
import { mergeCrawlDays } from '../domain/crawl.ts';
import { invalidRequest } from '../domain/errors.ts';
import { INDEX_FIELDS } from '../domain/index-state.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { NOTHING } from '../domain/metrics.ts';
import { conjunctsOf, isLeaf, isSumTest } from '../domain/predicate.ts';
import { domainOf, isOfDomain } from '../domain/properties.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import { objects } from '../formats/table.ts';
import { inTurns } from '../runtime/turns.ts';
import * as parameter from './parameters.ts';
import { formatParameters, readParameters } from './parameters.ts';
import { projectPreset, projectReference, wholeResult } from './preset.ts';
import { columnsOf, day, instant, integer, nullable, object, paging, project } from './schemas.ts';

const indexParameters = {
  ...parameter.selectionParameters('index'),
  ...parameter.paging(1000, 25_000),
  ...parameter.formatParameters,
};
const historyParameters = {
  page: parameter.exactText('The address of the page, as in other answers.'),
  ...parameter.formatParameters,
};

const NOT_INSPECTED = 'No page has been inspected yet: background jobs inspect pages after the first sync.';

const NO_PAGES =
  'No page is known that could be inspected: pages are those of the archive by day (connections set --archive), targets of keywords, and those pinned to groups.';

const words = (description: string) => nullable(Type.String(), `${description} Words of the search engine.`);

const state = {
  verdict: words('Whether the page is in the index: PASS if it is.'),
  coverageState: words('Why, in a sentence.'),
  robotsTxtState: words('Whether robots.txt allows to crawl it.'),
  indexingState: words('Whether the page allows to index it.'),
  pageFetchState: words('Whether it could be fetched.'),
  googleCanonical: nullable(Type.String(), 'The page that the search engine took as canonical.'),
  userCanonical: nullable(Type.String(), 'The page that the site names as canonical.'),
  crawledAs: words('The crawler.'),
};

const indexedPage = object('IndexedPage', {
  url: Type.String(),
  ...state,
  lastCrawlTime: nullable(instant, 'When the search engine last fetched it.'),
  inspectedAt: Type.String({ format: 'date-time', description: 'When the state was read.' }),
  since: Type.String({ format: 'date-time', description: 'The first inspection in a row with this verdict.' }),
});

const reason = nullable(Type.String(), 'Why the state is not known, or not as of today; null if it is.');

const indexAnswer = object('IndexAnswer', {
  project,
  inspectedAt: nullable(instant, 'The newest inspection; null before the first one.'),
  reason,
  paging,
  pages: Type.Array(indexedPage),
});

const indexChange = object('IndexChange', {
  since: Type.String({ format: 'date-time', description: 'The first inspection with this state.' }),
  ...state,
});

const historyAnswer = object('IndexHistoryAnswer', {
  project,
  reason,
  page: nullable(indexedPage, 'The last inspection; null before the first one.'),
  history: Type.Array(indexChange, { description: 'Newest first.' }),
});

/** The last inspection of each page of a project, by address. */
export const indexPreset = projectPreset({
  path: '/projects/:id/index',
  operation: 'listIndexState',
  tag: 'Site',
  summary: 'The state of pages in the index of the search engine',
  description:
    'The last inspection of each page, by address. The search engine allows 2,000 inspections of a property a day: pages with clicks are inspected at least once a week if they are at most 10,000, others when their turn comes.',
  answer: indexAnswer,
  content: 'The pages.',
  examples: {
    200: '/projects/Proj1/index?filter=verdict:not_equals:PASS&sort=-since',
    400: '/projects/Proj1/index?sort=-clicks',
  },
  parameters: indexParameters,
  parse: (sent) => {
    const { filter, sort, limit, offset } = parameter.readParameters(indexParameters, sent);
    return { filter, sort, limit: parameter.rowLimit(sent, limit), offset };
  },
  plan: async (query, { catalog, project }) => ({ query, project, reason: await reasonOf(catalog, project) }),
  run: async ({ query, project, reason }, { catalog }, { signal }) => {
    const { filter, sort, limit, offset } = query;
    const pagesQuery = databaseQuery(query);
    if (pagesQuery !== null) {
      const { pages, total, newest } = await listInspectedPages(catalog, project.id, pagesQuery);
      return {
        ...stateOf(project, newest, reason),
        paging: { total, limit: pagesQuery.limit, offset },
        pages: pages.map(indexRow),
      };
    }
    const all: InspectedPage[] = [];
    // Not in the snapshot of the plan, which others wait for: each page is by itself.
    for await (const some of eachInspectedPage(catalog, project.id)) all.push(...some);
    const selected = await inTurns(selectRows(all, { filter, sort }, READERS), signal);
    const newest = all.reduce<Microseconds>((latest, { inspectedAt }) => Math.max(latest, inspectedAt), 0);
    return {
      ...stateOf(project, newest === 0 ? null : newest, reason),
      paging: { total: selected.length, limit: Math.max(1, limit ?? selected.length), offset },
      pages: selected.slice(offset, offset + (limit ?? selected.length)).map(indexRow),
    };
  },
  rows: ({ project, paging, pages }) =>
    objects({ name: `${project.domain}-index`, total: paging.total }, pages, columnsOf(indexedPage)),
  // Whatever changes a page comes with a new inspection.
  version: ({ inspectedAt, reason: why, paging: of }) => wholeResult([inspectedAt, why, of]),
});

/** When pages were inspected last, and why not. @param newest null if none was */
function stateOf(project: Project, newest: Microseconds | null, reason: string | null) {
  return {
    project: projectReference(project),
    inspectedAt: newest === null ? null : isoInstant(newest),
    reason: newest === null ? (reason ?? NO_PAGES) : reason,
  };
}

interface IndexQuery extends Selection {
  readonly limit: number | null;
  readonly offset: number;
}

/** The conditions that the database can select by. */
const SELECTED: Readonly<Record<string, 'verdict' | 'other' | 'part'>> = {
  'verdict equals': 'verdict',
  'not verdict equals': 'other',
  'url contains': 'part',
};
const SORTED: readonly string[] = ['url', 'since', 'inspectedAt', 'lastCrawlTime'];
/** Letters of other alphabets have no lower case in SQLite. */
const ASCII = /^[\x20-\x7e]*$/;

/** What the database can select and sort by itself, which reads no other pages; null for all other questions. */
function databaseQuery({ filter, sort, limit, offset }: IndexQuery): InspectedPagesQuery | null {
  const [order, more] = sort ?? [{ field: 'url', descending: false }];
  if (limit === null || order === undefined || more !== undefined || !SORTED.includes(order.field)) return null;
  let conditions: Pick<InspectedPagesQuery, 'verdict' | 'other' | 'part'> = { verdict: null, other: null, part: null };
  for (const one of filter === null ? [] : conjunctsOf([filter])) {
    const isNot = one.op === 'not';
    const leaf = isNot ? one.of[0] : one;
    if (!isLeaf(leaf) || isSumTest(leaf) || !leaf.fold) return null;
    const [value = ''] = leaf.values;
    const name = SELECTED[`${isNot ? 'not ' : ''}${leaf.field} ${leaf.op}`];
    const isKnown = name !== undefined && conditions[name] === null;
    if (!isKnown || value === '' || !ASCII.test(value)) return null;
    conditions = { ...conditions, [name]: value.toLowerCase() };
  }
  return { ...conditions, sort: `${order.descending ? '-' : ''}${order.field}`, limit, offset };
}

/** The states that the index had of a page, newest first. */
export const indexHistoryPreset = projectPreset({
  path: '/projects/:id/index/history',
  operation: 'getIndexHistory',
  tag: 'Site',
  summary: 'The state of a page in the index, and what it was before',
  description: 'A state begins with the first inspection that found it.',
  answer: historyAnswer,
  content: 'The states.',
  examples: {
    200: '/projects/Proj1/index/history?page=https%3A%2F%2Facme.example%2F',
    400: '/projects/Proj1/index/history',
  },
  parameters: historyParameters,
  parse: (sent) => {
    const { page } = parameter.readParameters(historyParameters, sent);
    if (page === undefined) throw invalidRequest('page is missing; it must be the address of a page.');
    return { page };
  },
  plan: async ({ page: url }, { catalog, project }) => {
    const page = await findInspectedPage(catalog, project.id, url);
    const changes = await listInspectionChanges(catalog, project.id, url);
    return {
      project: projectReference(project),
      reason: page === undefined ? ((await reasonOf(catalog, project)) ?? NEVER) : null,
      page: page === undefined ? null : indexRow(page),
      history: changes.map(({ since, state }) => ({ since: isoInstant(since), ...state })),
    };
  },
  run: (result) => result,
  rows: ({ project, history }) => objects({ name: `${project.domain}-index-history` }, history, columnsOf(indexChange)),
  version: wholeResult,
});

const NEVER = 'This page has not been inspected yet.';

/** Why the index state is not known, or not as of today; null if it is. */
async function reasonOf(catalog: Catalog, { id, property }: Project): Promise<string | null> {
  const last = await readInspectionSchedule(catalog, id, property);
  return reasonOfReading(catalog, id, { what: 'the index state of pages', last, notYet: NOT_INSPECTED });
}

function indexRow({ url, state, lastCrawlTime, inspectedAt, since }: InspectedPage) {
  return { url, ...state, lastCrawlTime, inspectedAt: isoInstant(inspectedAt), since: isoInstant(since) };
}

const READERS = {
  measuresOf: () => NOTHING,
  textsOf: (page: InspectedPage) => {
    const texts = INDEX_FIELDS.map((field) => [field, page.state[field] ?? '']);
    const { url, lastCrawlTime, inspectedAt, since } = page;
    const times = {
      lastCrawlTime: lastCrawlTime ?? '',
      inspectedAt: isoInstant(inspectedAt),
      since: isoInstant(since),
    };
    return { url, ...Object.fromEntries(texts), ...times } as Readonly<Record<string, string>>;
  },
};

const NOT_READ = 'The sitemaps have not been read yet: background jobs read them once a day.';

const sitemap = object('Sitemap', {
  path: Type.String({ description: 'The address of the sitemap.' }),
  type: nullable(Type.String(), 'A word of the search engine, such as sitemap, rssFeed or urlList.'),
  isIndex: Type.Boolean({ description: 'It lists other sitemaps.' }),
  lastSubmitted: nullable(instant),
  lastDownloaded: nullable(instant, 'When the search engine last read it.'),
  isPending: Type.Boolean({ description: 'It has not been processed yet.' }),
  warnings: integer({ minimum: 0 }),
  errors: integer({ minimum: 0 }),
  urls: nullable(integer({ minimum: 0 }), 'Pages in it; null where the search engine counts none.'),
});

const sitemapsAnswer = object('SitemapsAnswer', {
  project,
  fetchedAt: nullable(instant, 'When the sitemaps were read; null before.'),
  reason: nullable(
    Type.String(),
    'Why the sitemaps are not known, or not as of today, and what is needed; null if they are known.',
  ),
  sitemaps: Type.Array(sitemap),
});

/** The sitemaps of a project that the search engine knows, by address. */
export const sitemapsPreset = projectPreset({
  path: '/projects/:id/sitemaps',
  operation: 'listSitemaps',
  tag: 'Site',
  summary: 'The sitemaps that the search engine knows',
  description:
    'By address. They are read once a day for projects with a connection to the reporting API; an empty list without a `reason` means that none was submitted.',
  answer: sitemapsAnswer,
  content: 'The sitemaps.',
  examples: { 200: '/projects/Proj1/sitemaps' },
  parameters: formatParameters,
  parse: () => ({}),
  plan: async (_query, { catalog, project }) => {
    const stored = await readSitemaps(catalog, project.id, project.property);
    const reading = { what: 'the sitemaps', last: stored, notYet: NOT_READ };
    return { project, stored, reason: await reasonOfReading(catalog, project.id, reading) };
  },
  run: ({ project, reason, stored }) => ({
    project: projectReference(project),
    fetchedAt: isoInstantOrNull(stored?.fetchedAt ?? null),
    reason,
    sitemaps: [...(stored?.sitemaps ?? [])],
  }),
  rows: ({ project, sitemaps }) => objects({ name: `${project.domain}-sitemaps` }, sitemaps, columnsOf(sitemap)),
  version: wholeResult,
});

interface Reading {
  /** What the reporting API tells, in the middle of a sentence. */
  readonly what: string;
  /** What the last run left; undefined before the first one. */
  readonly last: { readonly reason: string | null } | undefined;
  /** The reason before the first run. */
  readonly notYet: string;
}

/** Why something that background jobs read from the reporting API is not known, or not as of today; null if it is. */
async function reasonOfReading(
  catalog: Catalog,
  project: string,
  { what, last, notYet }: Reading,
): Promise<string | null> {
  const connections = await connectionsOf(catalog, project);
  if (connections.some(({ kind }) => kind === 'search-console')) return last === undefined ? notYet : last.reason;
  return `The project has no connection to the reporting API, which tells ${what}: connect it in the dashboard, or with ordinate connections set.`;
}

const crawlParameters = {
  page: parameter.exactText('The address of a page of the property; without it, the days of the site are answered.'),
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

const crawlAnswer = object('CrawlAnswer', {
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
export const crawlPreset = projectPreset({
  path: '/projects/:id/crawl',
  operation: 'getCrawl',
  tag: 'Site',
  summary: "What Bing's crawler found on the site, or of a page",
  description:
    'Evidence, not a verdict: that a page was crawled does not mean that it is in the index, and Bing tells of no page whether it is. Days of the site are stored by the sync, so that those which Bing no longer tells stay; Bing is asked beside it when this is asked for. What it knows of a page is not stored. Flat rows are the days, or with `page` the page.',
  answer: crawlAnswer,
  content: 'What was found.',
  examples: { 200: '/projects/Proj1/crawl?page=https%3A%2F%2Fshop.example%2F', 400: '/projects/Proj1/crawl?page=' },
  parameters: crawlParameters,
  parse: (sent, { property }) => {
    const { page = null } = readParameters(crawlParameters, sent);
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
