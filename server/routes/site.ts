import { type Static, Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { invalidRequest } from '../domain/errors.ts';
import { type Range, within } from '../domain/range.ts';
import { siteSeries, siteSeriesOfCountry } from '../facts/series.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { country, device, rangeParameters, readParameters } from '../http/parameters.ts';
import { siteRange } from '../http/ranges.ts';
import { day, metrics, nullable, object, oneOf, project, provisionalAfter, responses } from '../http/schemas.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: Type.Object(
    {
      from: day,
      to: day,
      device: oneOf(['all', 'desktop', 'mobile', 'tablet']),
      country: nullable(Type.String()),
      provisionalAfter,
      countryMonthlyThrough: Type.Optional(
        nullable(
          day,
          'Only with country: last day stored as monthly totals. Days up to it carry an even share of their month.',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  totals: object(metrics),
  daily: Type.Array(object({ date: day, ...metrics })),
});

const parameters = { ...rangeParameters, device, country };

export const site: Route<typeof answer> = {
  path: '/projects/:id/site',
  operation: 'getSite',
  tag: 'Site',
  summary: 'Totals and days of the whole property',
  description:
    'Includes queries that the search engine anonymises. Days end with the last synced day; a stored day without data is zeros. country cannot be combined with a device.',
  parameters,
  response: responses(answer, 'Totals and days.', ['invalid_request', 'not_found']),
  handle: (context) => (request, reply) => {
    const { catalog, facts, kept, now } = context;
    const question = (found: Project) => {
      const asked = readParameters(parameters, request.query);
      if (asked.country !== undefined && asked.device !== 'all') {
        throw invalidRequest(`country cannot be combined with device '${asked.device}'; send one of them.`);
      }
      return { asked, range: siteRange(asked, found, now()) };
    };
    const make = async (signal: AbortSignal): Promise<Static<typeof answer>> => {
      const read = readProject(catalog, request, (found) => {
        const { asked, range } = question(found);
        return { asked, range, ...readFiles(catalog, found, range) };
      });
      const { asked, range, monthlyThrough, project: found } = read;
      const series =
        asked.country === undefined
          ? await siteSeries(facts, { ...read, device: asked.device, signal })
          : await siteSeriesOfCountry(facts, { ...read, country: asked.country, signal });
      return {
        project: projectReference(found),
        range: {
          ...range,
          device: asked.device,
          country: asked.country ?? null,
          provisionalAfter: found.provisionalAfter,
          ...(asked.country === undefined ? {} : { countryMonthlyThrough: monthlyThrough }),
        },
        ...series,
      };
    };
    return kept.send(request, reply, { operation: 'getSite', question, make });
  },
};

/** The days that the answer has, and the files that they are read from. */
function readFiles(catalog: Catalog, found: Project, range: Range) {
  const coverage = readCoverage(catalog, found.id);
  const days = storedDays(range, coverage.site_daily, found);
  const files = (table: FactTable) => (days ? filesOf(catalog, found.id, table, days) : []);
  return {
    days,
    monthlyThrough: coverage.country_monthly?.lastDay ?? null,
    siteFiles: files('site_daily'),
    countryFiles: files('country_daily'),
    monthFiles: files('country_monthly'),
  };
}

/** The days of a range from the project's first stored day to its last synced one; null when there are none. */
function storedDays(range: Range, stored: Coverage | undefined, found: Project): Range | null {
  if (stored === undefined || found.syncedThrough === null) return null;
  return within(range, stored.firstDay, found.syncedThrough);
}
