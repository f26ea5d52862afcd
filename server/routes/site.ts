import { Type } from 'typebox';
import { type Coverage, filesOf, readCoverage } from '../catalog/manifest.ts';
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
  handle:
    ({ catalog, facts, now }) =>
    async (request) => {
      const read = readProject(catalog, request, (found) => {
        const asked = readParameters(parameters, request.query);
        if (asked.country !== undefined && asked.device !== 'all') {
          throw invalidRequest(`country cannot be combined with device '${asked.device}'; send one of them.`);
        }
        const range = siteRange(asked, found, now());
        const coverage = readCoverage(catalog, found.id);
        const days = storedDays(range, coverage.site_daily, found);
        const files = (table: Parameters<typeof filesOf>[2]) => (days ? filesOf(catalog, found.id, table, days) : []);
        return {
          asked,
          range,
          days,
          monthlyThrough: coverage.country_monthly?.lastDay ?? null,
          siteFiles: asked.country === undefined ? files('site_daily') : [],
          countryFiles: asked.country === undefined ? [] : files('country_daily'),
          monthFiles: asked.country === undefined ? [] : files('country_monthly'),
        };
      });
      const { asked, range, monthlyThrough, project: found } = read;
      const series =
        asked.country === undefined
          ? await siteSeries(facts, { ...read, device: asked.device, signal: request.signal })
          : await siteSeriesOfCountry(facts, { ...read, country: asked.country, signal: request.signal });
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
    },
};

/** The days of a range from the project's first stored day to its last synced one; null when there are none. */
function storedDays(range: Range, stored: Coverage | undefined, found: Project): Range | null {
  if (stored === undefined || found.syncedThrough === null) return null;
  return within(range, stored.firstDay, found.syncedThrough);
}
