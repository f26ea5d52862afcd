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
import { inTurns } from '../runtime/turns.ts';
import { exactText } from './joint-lists.ts';
import { formatParameters, paging, readParameters, rowLimit, selectionParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';
import { reasonOfReading } from './reporting-api.ts';

const indexParameters = { ...selectionParameters('index'), ...paging(1000, 25_000), ...formatParameters };
const historyParameters = { page: exactText('The address of the page, as in other answers.'), ...formatParameters };

const NOT_INSPECTED = 'No page has been inspected yet: background jobs inspect pages after the first sync.';

const NO_PAGES =
  'No page is known that could be inspected: pages are those of the archive by day (connections set --archive), targets of keywords, and those pinned to groups.';

/** The last inspection of each page of a project, by address. */
export const indexReport = projectReport({
  operation: 'listIndexState',
  parameters: indexParameters,
  parse: (sent) => {
    const { filter, sort, limit, offset } = readParameters(indexParameters, sent);
    return { filter, sort, limit: rowLimit(sent, limit), offset };
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
  operation: 'getIndexHistory',
  parameters: historyParameters,
  parse: (sent) => {
    const { page } = readParameters(historyParameters, sent);
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

export type IndexResult = Awaited<ReturnType<typeof indexReport.run>>;
export type IndexHistoryResult = Awaited<ReturnType<typeof indexHistoryReport.run>>;
