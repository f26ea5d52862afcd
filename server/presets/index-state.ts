import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import {
  eachInspectedPage,
  findInspectedPage,
  type InspectedPage,
  type InspectedPagesQuery,
  listInspectedPages,
  listInspectionChanges,
  readInspectionSchedule,
} from '../catalog/inspections.ts';
import type { Project } from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import { INDEX_FIELDS } from '../domain/index-state.ts';
import { isoInstant, type Microseconds } from '../domain/instants.ts';
import { NOTHING } from '../domain/metrics.ts';
import { conjunctsOf, isLeaf, isSumTest } from '../domain/predicate.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import { objects } from '../formats/table.ts';
import { inTurns } from '../runtime/turns.ts';
import { exactText } from './joint-lists.ts';
import * as parameter from './parameters.ts';
import { projectReference, projectReport, wholeResult } from './report.ts';
import { reasonOfReading } from './reporting-api.ts';
import { columnsOf, instant, nullable, object, paging, project } from './schemas.ts';

const indexParameters = {
  ...parameter.selectionParameters('index'),
  ...parameter.paging(1000, 25_000),
  ...parameter.formatParameters,
};
const historyParameters = {
  page: exactText('The address of the page, as in other answers.'),
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

const answer = object('IndexAnswer', {
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
export const indexReport = projectReport({
  path: '/projects/:id/index',
  operation: 'listIndexState',
  tag: 'Site',
  summary: 'The state of pages in the index of the search engine',
  description:
    'The last inspection of each page, by address. The search engine allows 2,000 inspections of a property a day: pages with clicks are inspected at least once a week if they are at most 10,000, others when their turn comes.',
  answer,
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
export const indexHistoryReport = projectReport({
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
