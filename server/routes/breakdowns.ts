import { type Static, Type } from 'typebox';
import { type FactTable, filesOf, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { earlier, later } from '../domain/dates.ts';
import { breakdowns as readBreakdowns } from '../facts/breakdowns.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { rangeParameters, readParameters } from '../http/parameters.ts';
import { siteRange } from '../http/ranges.ts';
import { counts, day, metrics, nullable, object, project, provisionalAfter, responses } from '../http/schemas.ts';
import type { Route } from './route.ts';

const answer = object({
  project,
  range: object({
    from: day,
    to: day,
    availableFrom: nullable(day, 'First day with any breakdown; null before the first collection.'),
    availableThrough: nullable(day, 'Last day with any breakdown; null before the first collection.'),
    provisionalAfter,
    countryMonthlyThrough: nullable(
      day,
      'Up to this day country data is monthly (top 20 and other); a part of a month gets an even share of it.',
    ),
  }),
  countries: Type.Array(object({ country: Type.String(), ...metrics }), { description: 'Most clicks first.' }),
  devices: Type.Array(object({ device: Type.String({ description: 'desktop, mobile or tablet.' }), ...metrics }), {
    description: 'Most clicks first.',
  }),
  appearances: Type.Array(object({ appearance: Type.String(), ...metrics }), {
    description: 'Most impressions first. They overlap and do not add up to the site.',
  }),
  brand: object({
    brand: object(metrics),
    nonBrand: object(metrics),
    anonymous: object(counts, { description: 'Site total minus brand and non-brand.' }),
  }),
});

/** The tables whose stored days make data available here. */
const TABLES: readonly FactTable[] = [
  'site_daily',
  'country_daily',
  'country_monthly',
  'appearance_daily',
  'brand_daily',
];

export const breakdowns: Route<typeof answer> = {
  path: '/projects/:id/breakdowns',
  operation: 'getBreakdowns',
  tag: 'Site',
  summary: 'Site totals by country, device, appearance and brand',
  description: 'Rows without clicks and impressions are left out.',
  parameters: rangeParameters,
  response: responses(answer, 'The breakdowns.', ['invalid_request', 'not_found']),
  handle: (context) => (request, reply) => {
    const { catalog, facts, kept, now } = context;
    const question = (found: Project) => siteRange(readParameters(rangeParameters, request.query), found, now());
    const make = async (signal: AbortSignal): Promise<Static<typeof answer>> => {
      const read = readProject(catalog, request, (found) => {
        const range = question(found);
        // Before the first sync nothing counts as collected.
        const coverage = found.syncedThrough === null ? {} : readCoverage(catalog, found.id);
        const stored = TABLES.flatMap((table) => coverage[table] ?? []);
        const files = (table: FactTable) => (coverage[table] ? filesOf(catalog, found.id, table, range) : []);
        return {
          range,
          availableFrom: stored.map(({ firstDay }) => firstDay).reduce(earlierOf, null),
          availableThrough: stored.map(({ lastDay }) => lastDay).reduce(laterOf, null),
          monthlyThrough: coverage.country_monthly?.lastDay ?? null,
          files: {
            site: files('site_daily'),
            country: files('country_daily'),
            countryMonths: files('country_monthly'),
            appearance: files('appearance_daily'),
            brand: files('brand_daily'),
          },
        };
      });
      const { countries, devices, appearances, brand } = await readBreakdowns(facts, { ...read, signal });
      return {
        project: projectReference(read.project),
        range: {
          ...read.range,
          availableFrom: read.availableFrom,
          availableThrough: read.availableThrough,
          provisionalAfter: read.project.provisionalAfter,
          countryMonthlyThrough: read.monthlyThrough,
        },
        countries: countries.map(({ name, ...row }) => ({ country: name, ...row })),
        devices: devices.map(({ name, ...row }) => ({ device: name, ...row })),
        appearances: appearances.map(({ name, ...row }) => ({ appearance: name, ...row })),
        brand,
      };
    };
    return kept.send(request, reply, { operation: 'getBreakdowns', question, make });
  },
};

const earlierOf = (a: string | null, b: string): string => (a === null ? b : earlier(a, b));
const laterOf = (a: string | null, b: string): string => (a === null ? b : later(a, b));
