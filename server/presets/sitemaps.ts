import { readSitemaps } from '../catalog/sitemaps.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { formatParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';
import { reasonOfReading } from './reporting-api.ts';

const NOT_READ = 'The sitemaps have not been read yet: background jobs read them once a day.';

/** The sitemaps of a project that the search engine knows, by address. */
export const sitemapsReport = projectReport({
  operation: 'listSitemaps',
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
});

export type SitemapsResult = Awaited<ReturnType<typeof sitemapsReport.run>>;
