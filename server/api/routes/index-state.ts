import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { indexHistoryReport, indexReport } from '../../presets/index-state.ts';
import { indexHistoryRows, indexRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { instant, nullable, object, paging, project } from '../schemas.ts';
import type { Route } from './route.ts';

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

const page = object('IndexedPage', {
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
  pages: Type.Array(page),
});

const history = object('IndexHistoryAnswer', {
  project,
  reason,
  page: nullable(page, 'The last inspection; null before the first one.'),
  history: Type.Array(
    object('IndexChange', {
      since: Type.String({ format: 'date-time', description: 'The first inspection with this state.' }),
      ...state,
    }),
    { description: 'Newest first.' },
  ),
});

export const index: Route = {
  path: '/projects/:id/index',
  report: indexReport,
  tag: 'Site',
  summary: 'The state of pages in the index of the search engine',
  description:
    'The last inspection of each page, by address. The search engine allows 2,000 inspections of a property a day: pages with clicks are inspected at least once a week if they are at most 10,000, others when their turn comes.',
  response: responses(answer, 'The pages.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/index?filter=verdict:not_equals:PASS&sort=-since',
    400: '/projects/Proj1/index?sort=-clicks',
  },
  handle: answerWith(indexReport, {
    json: documentJson<Static<typeof answer>>,
    rows: indexRows,
    // Whatever changes a page comes with a new inspection.
    version: ({ inspectedAt, reason: why, paging: of }) => wholeResult([inspectedAt, why, of]),
  }),
};

export const indexHistory: Route = {
  path: '/projects/:id/index/history',
  report: indexHistoryReport,
  tag: 'Site',
  summary: 'The state of a page in the index, and what it was before',
  description: 'A state begins with the first inspection that found it.',
  response: responses(history, 'The states.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: {
    200: '/projects/Proj1/index/history?page=https%3A%2F%2Facme.example%2F',
    400: '/projects/Proj1/index/history',
  },
  handle: answerWith(indexHistoryReport, {
    json: documentJson<Static<typeof history>>,
    rows: indexHistoryRows,
    version: wholeResult,
  }),
};
