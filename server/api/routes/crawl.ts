import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { crawlReport } from '../../presets/crawl.ts';
import { crawlRows } from '../../presets/record-tables.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { day, instant, integer, nullable, object, project } from '../schemas.ts';
import type { Route } from './route.ts';

const count = (description: string) => integer({ minimum: 0, description });

const page = object('CrawledPage', {
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
  page: nullable(page, 'The page of `page`; null without it, and where Bing does not know it.'),
  days: Type.Array(crawlDay, {
    description: 'The stored days and those that Bing tells, some six months, in order; none with `page`.',
  }),
});

export const crawl: Route = {
  path: '/projects/:id/crawl',
  report: crawlReport,
  tag: 'Site',
  summary: "What Bing's crawler found on the site, or of a page",
  description:
    'Evidence, not a verdict: that a page was crawled does not mean that it is in the index, and Bing tells of no page whether it is. Days of the site are stored by the sync, so that those which Bing no longer tells stay; Bing is asked beside it when this is asked for. What it knows of a page is not stored. Flat rows are the days, or with `page` the page.',
  response: responses(answer, 'What was found.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/crawl?page=https%3A%2F%2Fshop.example%2F', 400: '/projects/Proj1/crawl?page=' },
  handle: answerWith(crawlReport, {
    json: (result) => documentJson<Static<typeof answer>>(result.answer),
    rows: crawlRows,
    version: wholeResult,
  }),
};
