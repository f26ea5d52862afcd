import { type Static, Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { sitemapRows } from '../../presets/record-tables.ts';
import { sitemapsReport } from '../../presets/sitemaps.ts';
import { answerWith, wholeResult } from '../answer.ts';
import { responses } from '../responses.ts';
import { instant, integer, nullable, object, project } from '../schemas.ts';
import type { Route } from './route.ts';

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

const answer = object('SitemapsAnswer', {
  project,
  fetchedAt: nullable(instant, 'When the sitemaps were read; null before.'),
  reason: nullable(
    Type.String(),
    'Why the sitemaps are not known, or not as of today, and what is needed; null if they are known.',
  ),
  sitemaps: Type.Array(sitemap),
});

export const sitemaps: Route = {
  path: '/projects/:id/sitemaps',
  report: sitemapsReport,
  tag: 'Site',
  summary: 'The sitemaps that the search engine knows',
  description:
    'By address. They are read once a day for projects with a connection to the reporting API; an empty list without a `reason` means that none was submitted.',
  response: responses(answer, 'The sitemaps.', ['invalid_request', 'not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/sitemaps' },
  handle: answerWith(sitemapsReport, {
    json: documentJson<Static<typeof answer>>,
    rows: sitemapRows,
    version: wholeResult,
  }),
};
