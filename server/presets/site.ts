import { Type } from 'typebox';
import { readCoverage } from '../catalog/fact-files.ts';
import { invalidRequest } from '../domain/errors.ts';
import type { Interval } from '../domain/intervals.ts';
import { comparedRange, oneDevice, siteRange } from '../domain/project-ranges.ts';
import { DAYS, dimension, MEASURED, table } from '../formats/table.ts';
import { isOtherEngine } from '../model/surfaces.ts';
import { siteTable } from '../model/tables.ts';
import { ask } from '../query/ask.ts';
import { type Plan, plan } from '../query/plan.ts';
import { planQuality, qualityOf } from '../query/quality.ts';
import { intervalIn, queryOf } from '../query/query.ts';
import { type KnownMetrics, metricsOf, type Row, rowSet } from '../query/rows.ts';
import * as parameter from './parameters.ts';
import { projectPreset, projectReference } from './preset.ts';
import { dayMetrics, object, project, quality, range, totalMetrics } from './schemas.ts';
import {
  checkDevice,
  hasNoDays,
  ofType,
  readProjectOf,
  searchEngine,
  searchType,
  surfaceOf,
  surfaceRange,
} from './search-type.ts';

const parameters = {
  ...parameter.rangeParameters,
  engine: searchEngine,
  type: searchType,
  device: parameter.device,
  country: parameter.country,
  compare: parameter.compare,
  interval: parameter.interval,
  quality: parameter.quality,
  ...parameter.formatParameters,
};

/** Its rows are days, weeks or months. */
const TIMES = { day: 'date', week: 'week', month: 'month' } as const;

/** The dimension of rows that are as long as an interval. */
export function timeOf(interval: Interval): (typeof TIMES)[Interval] {
  return TIMES[interval];
}

const answer = object('SiteAnswer', {
  project,
  range,
  quality,
  totals: totalMetrics,
  daily: Type.Array(dayMetrics),
});

/** Totals and days of the whole property. */
export const sitePreset = projectPreset({
  path: '/projects/:id/site',
  operation: 'getSite',
  tag: 'Site',
  summary: 'Totals and days of the whole property',
  description:
    'Includes queries that the search engine anonymises. Days end with the last synced day; a stored day without data is zeros. country cannot be combined with a device.',
  answer,
  content: 'Totals and days.',
  examples: {
    200: '/projects/Proj1/site?from=2026-03-09&country=GBR',
    400: '/projects/Proj1/site?country=gbr&device=mobile',
  },
  parameters,
  parse: (sent, project, now) => {
    const values = parameter.readParameters(parameters, sent);
    const { engine, type, device: chosen, country: named = null, compare: other, interval, quality, ...range } = values;
    checkDevice(type, chosen);
    const surface = surfaceOf(engine, type, { device: chosen !== 'all', country: named !== null }, project);
    if (named !== null && chosen !== 'all') {
      throw invalidRequest(`country cannot be combined with device '${chosen}'; send one of them.`);
    }
    const days = siteRange(range, project, now);
    const comparison = comparedRange(days, other);
    return {
      ...queryOf({ ...days, surface, by: [timeOf(interval)], device: chosen, country: named, comparison }),
      quality,
    };
  },
  plan: async ({ quality, ...query }, { catalog, project: stored }) => {
    const { surface, device: chosen } = query;
    const project = await readProjectOf(catalog, surface, stored);
    const coverage = await readCoverage(catalog, project.id);
    if (isOtherEngine(surface) && coverage[siteTable(surface)] === undefined) throw hasNoDays(surface);
    const planned = await plan(catalog, project, query, coverage);
    const rated = { ...query, table: planned.table, device: oneDevice(chosen), type: surface, coverage };
    return { planned, quality: quality ? await planQuality(catalog, project, rated) : null };
  },
  run: async ({ planned, quality }, { facts }, { signal }) => {
    const { rows, total, metrics, known } = await ask(planned, facts, signal);
    const answer = {
      project: projectReference(planned.project),
      range: siteRangeOf(planned),
      ...(await qualityOf(facts, quality, signal)),
      totals: metricsOf(total, metrics),
      daily: rows.map((row) => siteRow(row, metrics)),
    };
    return { answer, rows, metrics, interval: intervalIn(planned.query), events: known?.events ?? [] };
  },
  followed: (project) => project,
  // One row per day, or longer interval, of the property.
  rows: ({ answer: { project, range, quality }, rows, metrics, interval }) => {
    const isSpread = (of: 'now' | 'base'): boolean => rows.some((row) => row[of]?.fraction !== undefined);
    return table({
      head: { name: `${project.domain}-site`, total: rows.length, range, ...(quality && { quality }) },
      columns: [dimension('date', 'day'), ...(interval === 'day' ? [] : [DAYS]), ...MEASURED],
      sets: [rowSet(rows, metrics)],
      isCompared: range.comparison !== undefined,
      isSpread: { now: isSpread('now'), base: isSpread('base') },
    });
  },
});

/** The range of the answer. */
export function siteRangeOf({ query, project, monthlyThrough }: Pick<Plan, 'query' | 'project' | 'monthlyThrough'>) {
  const { from, to, surface, device: chosen, country: named, comparison } = query;
  const { type } = ofType(surface);
  return {
    from,
    to,
    ...surfaceRange(type),
    ...(type && { lastDay: project.syncedThrough }),
    device: chosen,
    country: named,
    provisionalAfter: project.provisionalAfter,
    ...(named === null ? {} : { countryMonthlyThrough: monthlyThrough }),
    ...(comparison === null ? {} : { comparison }),
  };
}

/** A day, or longer interval, of the answer. */
export function siteRow({ names: [date], days, ...sums }: Row, metrics: KnownMetrics) {
  return { date: date!, ...(days === undefined ? {} : { days }), ...metricsOf(sums, metrics) };
}
