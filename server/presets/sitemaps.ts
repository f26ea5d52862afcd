import { Type } from 'typebox';
import { readSitemaps } from '../catalog/sitemaps.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { objects } from '../formats/table.ts';
import { formatParameters } from './parameters.ts';
import { projectReference, projectReport, wholeResult } from './report.ts';
import { reasonOfReading } from './reporting-api.ts';
import { columnsOf, instant, integer, nullable, object, project } from './schemas.ts';

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

const answer = object('SitemapsAnswer', {
  project,
  fetchedAt: nullable(instant, 'When the sitemaps were read; null before.'),
  reason: nullable(
    Type.String(),
    'Why the sitemaps are not known, or not as of today, and what is needed; null if they are known.',
  ),
  sitemaps: Type.Array(sitemap),
});

/** The sitemaps of a project that the search engine knows, by address. */
export const sitemapsReport = projectReport({
  path: '/projects/:id/sitemaps',
  operation: 'listSitemaps',
  tag: 'Site',
  summary: 'The sitemaps that the search engine knows',
  description:
    'By address. They are read once a day for projects with a connection to the reporting API; an empty list without a `reason` means that none was submitted.',
  answer,
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
