import { Type } from 'typebox';
import { type Covered, readCoverage } from '../catalog/fact-files.ts';
import { earlier, later } from '../domain/dates.ts';
import { type ExactMeasures, NOTHING } from '../domain/metrics.ts';
import { comparedRange, siteRange } from '../domain/project-ranges.ts';
import { dimension, exactSum, MEASURED, table } from '../formats/table.ts';
import { monthsOf, tableFor } from '../model/tables.ts';
import { type Answer, ask } from '../query/ask.ts';
import { type Plan, plan } from '../query/plan.ts';
import { planQuality, qualityOf } from '../query/quality.ts';
import { queryOf } from '../query/query.ts';
import { metricsOf, type ObjectSet, type Row, rowSet, type Sums } from '../query/rows.ts';
import * as parameter from './parameters.ts';
import { projectPreset, projectReference } from './preset.ts';
import {
  comparedProperties,
  metricsProperties,
  nullable,
  object,
  project,
  quality,
  range,
  totalCounts,
  totalMetrics,
} from './schemas.ts';
import { checkEngine, ofType, readProjectOf, searchEngine, searchType } from './search-type.ts';

const parameters = {
  ...parameter.rangeParameters,
  engine: searchEngine,
  type: searchType,
  compare: parameter.compare,
  quality: parameter.quality,
  ...parameter.formatParameters,
};

/** What each table of the answer is about. */
const DIMENSIONS = { countries: 'country', devices: 'device', appearances: 'appearance', segments: 'brand' } as const;
type Part = keyof typeof DIMENSIONS;

const country = object('CountryMetrics', { country: Type.String(), ...metricsProperties, ...comparedProperties });
const device = object('DeviceMetrics', {
  device: Type.String({ description: 'desktop, mobile or tablet.' }),
  ...metricsProperties,
  ...comparedProperties,
});
const appearance = object('AppearanceMetrics', {
  appearance: Type.String(),
  ...metricsProperties,
  ...comparedProperties,
});

const answer = object('BreakdownsAnswer', {
  project,
  range,
  quality,
  countries: Type.Array(country, { description: 'Most clicks first.' }),
  devices: Type.Array(device, { description: 'Most clicks first.' }),
  appearances: Type.Array(appearance, {
    description: 'Most impressions first. They overlap and do not add up to the site.',
  }),
  brand: nullable(
    object('BrandSplit', {
      brand: totalMetrics,
      nonBrand: totalMetrics,
      anonymous: totalCounts,
    }),
    'Null if it is unknown: an import has days of the range without their queries, or without brand terms.',
  ),
});

/** Site totals by country, device, appearance and brand. */
export const breakdownsPreset = projectPreset({
  path: '/projects/:id/breakdowns',
  operation: 'getBreakdowns',
  tag: 'Site',
  summary: 'Site totals by country, device, appearance and brand',
  description: 'Rows without clicks and impressions are left out.',
  answer,
  content: 'The breakdowns.',
  examples: { 200: '/projects/Proj1/breakdowns?period=2m', 400: '/projects/Proj1/breakdowns?period=17m' },
  parameters,
  parse: (sent, project, now) => {
    const { engine, type, compare: other, quality, ...range } = parameter.readParameters(parameters, sent);
    checkEngine(engine, 'countries, devices and appearances');
    const days = siteRange(range, project, now);
    const comparison = comparedRange(days, other);
    return { ...queryOf({ ...days, surface: type, comparison, days: 'all' }), type, quality };
  },
  plan: async ({ type, quality, ...query }, { catalog, project: stored }) => {
    const { surface } = query;
    const project = await readProjectOf(catalog, surface, stored);
    // Before the first sync nothing counts as collected.
    const coverage = project.syncedThrough === null ? {} : await readCoverage(catalog, project.id);
    const planOf = (part: Part): Promise<Plan> | undefined => {
      const by = [DIMENSIONS[part]];
      const isStored = tableFor(surface, by) !== undefined;
      return isStored ? plan(catalog, project, { ...query, by }, coverage) : undefined;
    };
    const [countries, devices, appearances, segments] = await Promise.all([
      planOf('countries')!,
      planOf('devices')!,
      planOf('appearances'),
      planOf('segments'),
    ]);
    const plans = { countries, devices, appearances, segments };
    const rated = { ...query, table: devices.table, device: null, type: surface, coverage };
    const hasAppearances = appearances !== undefined;
    return {
      query,
      type,
      project,
      plans,
      available: availableRange(plans, coverage),
      quality: quality ? await planQuality(catalog, project, { ...rated, hasAppearances }) : null,
    };
  },
  run: async ({ query, type, project, plans, available, quality }, { facts }, { signal }) => {
    const { from, to, comparison } = query;
    const read = (of: Plan | undefined) => of && ask(of, facts, signal);
    const [countries, devices, appearances, brand] = await Promise.all([
      read(plans.countries)!,
      read(plans.devices)!,
      read(plans.appearances),
      read(plans.segments),
    ]);
    const segments = brand && !brand.hasUnknown.now ? segmentsOf(brand, devices) : null;
    const answer = {
      project: projectReference(project),
      range: {
        from,
        to,
        ...ofType(type),
        ...available,
        provisionalAfter: project.provisionalAfter,
        countryMonthlyThrough: plans.countries.monthlyThrough,
        ...(comparison === null ? {} : { comparison }),
      },
      ...(await qualityOf(facts, quality, signal)),
      countries: countries.rows.map((row) => ({ country: row.names[0]!, ...metricsOfName(row, countries) })),
      devices: devices.rows.map((row) => ({ device: row.names[0]!, ...metricsOfName(row, devices) })),
      appearances: (appearances?.rows ?? []).map((row) => ({
        appearance: row.names[0]!,
        ...metricsOfName(row, appearances!),
      })),
      brand: segments && {
        brand: metricsOf(segments.brand),
        nonBrand: metricsOf(segments.nonBrand),
        anonymous: countsOf(segments.anonymous),
      },
    };
    return { answer, parts: { countries, devices, appearances, segments } };
  },
  // All breakdowns in one table: the breakdown of each row, and its value.
  rows: ({ answer: { project, range, quality }, parts: { countries, devices, appearances, segments } }) => {
    const setOf = (kind: string, { rows, metrics }: Pick<Answer, 'rows' | 'metrics'>): ObjectSet =>
      rowSet(
        rows.map((row): Row => ({ ...row, names: [kind, ...row.names] })),
        metrics,
      );
    const segment = (name: keyof NonNullable<typeof segments>): Row => ({ names: [name], ...segments![name] });
    const sets = [
      setOf('country', countries),
      setOf('device', devices),
      ...(appearances ? [setOf('appearance', appearances)] : []),
      ...(segments
        ? [
            setOf('segment', { rows: [segment('brand'), segment('nonBrand')], metrics: 'all' }),
            setOf('segment', { rows: [segment('anonymous')], metrics: 'counts' }),
          ]
        : []),
    ];
    const isSpread = (of: 'now' | 'base'): boolean =>
      sets.some(
        (set) => set.known === 'all' && set.rows.some((row) => row[of] != null && !Number.isInteger(exactSum(row[of]))),
      );
    return table({
      head: {
        name: `${project.domain}-breakdowns`,
        total: sets.reduce((sum, { length }) => sum + length, 0),
        range,
        ...(quality && { quality }),
      },
      columns: [dimension('kind', 'text', 0), dimension('value', 'text', 1), ...MEASURED],
      sets,
      isCompared: range.comparison !== undefined,
      isSpread: { now: isSpread('now'), base: isSpread('base') },
    });
  },
});

/** The metrics of a name: the other range has all names. */
function metricsOfName({ now, base, comparer }: Row, { metrics }: Pick<Answer, 'metrics'>) {
  return metricsOf({ now, ...(comparer && { base: base ?? NOTHING, comparer }) }, metrics);
}

/** The first and the last stored day of any of the tables; null if there is none. */
function availableRange(plans: Readonly<Record<Part, Plan | undefined>>, coverage: Covered) {
  const tables = Object.values(plans).flatMap((of) => {
    const months = of && monthsOf(of.table);
    return of ? [of.table, ...(months ? [months] : [])] : [];
  });
  const stored = tables.flatMap((table) => coverage[table] ?? []);
  const first = stored.map(({ firstDay }) => firstDay);
  const last = stored.map(({ lastDay }) => lastDay);
  return {
    availableFrom: first.length === 0 ? null : first.reduce(earlier),
    availableThrough: last.length === 0 ? null : last.reduce(later),
  };
}

/** Queries with a brand term and without; the others of the site are anonymised, and never below zero. */
function segmentsOf(brand: Answer, site: Answer) {
  // If the split of the other range is unknown, its days count as missing.
  const isKnown = !brand.hasUnknown.base;
  const segment = (name: string): Sums => {
    const { now, base, comparer } = brand.sumsOf(name);
    if (comparer === undefined) return { now };
    return { now, base: isKnown ? base : NOTHING, comparer: isKnown ? comparer : comparer.with(['missing_days']) };
  };
  const [ofBrand, others] = [segment('brand'), segment('non_brand')];
  const rest = (of: 'now' | 'base'): ExactMeasures => {
    const left = (metric: 'clicks' | 'impressions'): number =>
      Math.max(0, (site.total[of]?.[metric] ?? 0) - (ofBrand[of]?.[metric] ?? 0) - (others[of]?.[metric] ?? 0));
    return { clicks: left('clicks'), impressions: left('impressions'), sumPosition: 0 };
  };
  const anonymous: Sums = {
    now: rest('now'),
    ...(ofBrand.comparer && {
      base: isKnown ? rest('base') : NOTHING,
      comparer: ofBrand.comparer.with(site.total.comparer!.common),
    }),
  };
  return { brand: ofBrand, nonBrand: others, anonymous };
}

/** Of anonymised queries, clicks and impressions only. */
function countsOf(sums: Sums) {
  const { comparison, change, unsafe, ...metrics } = metricsOf(sums, 'counts');
  const counts = <Of extends Readonly<Record<'clicks' | 'impressions', unknown>>>({ clicks, impressions }: Of) =>
    ({ clicks, impressions }) as Pick<Of, 'clicks' | 'impressions'>;
  if (comparison === undefined) return counts(metrics);
  return { ...counts(metrics), comparison: counts(comparison), change: counts(change!), unsafe: unsafe! };
}
