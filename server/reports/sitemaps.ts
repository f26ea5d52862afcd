import { connectionsOf } from '../catalog/connections.ts';
import { readSitemaps } from '../catalog/sitemaps.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { formatParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';

const NOT_CONNECTED =
  'The project has no connection to the reporting API, which tells the sitemaps: connect it in the dashboard, or with ordinate connections set.';
const NOT_READ = 'The sitemaps have not been read yet: background jobs read them once a day.';

/** The sitemaps of a project that the search engine knows, by address. */
export const sitemapsReport = projectReport({
  operation: 'listSitemaps',
  parameters: formatParameters,
  parse: () => ({}),
  plan: async (_query, { catalog, project }) => {
    const connections = await connectionsOf(catalog, project.id);
    return {
      project,
      isConnected: connections.some(({ kind }) => kind === 'search-console'),
      stored: await readSitemaps(catalog, project.id, project.property),
    };
  },
  run: ({ project, isConnected, stored }) => ({
    project: projectReference(project),
    fetchedAt: isoInstantOrNull(stored?.fetchedAt ?? null),
    reason: isConnected ? (stored === undefined ? NOT_READ : stored.reason) : NOT_CONNECTED,
    sitemaps: [...(stored?.sitemaps ?? [])],
  }),
});

export type SitemapsResult = Awaited<ReturnType<typeof sitemapsReport.run>>;
