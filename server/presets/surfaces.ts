import { type Static, Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, dayOf } from '../domain/dates.ts';
import { isStale } from '../domain/finality.ts';
import { UNKNOWN } from '../domain/metrics.ts';
import { comparedRange, siteRange } from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import { ofRows, table } from '../formats/table.ts';
import {
  ENGINES,
  isOtherEngine,
  OTHER_ENGINES,
  SEARCH_TYPES,
  STALE_AFTER_DAYS,
  SURFACE_NAMES,
  SURFACES,
  type Surface,
  typeOf,
} from '../model/surfaces.ts';
import { AI_ENGINES, AI_TABLES, type AiEngine, siteTable } from '../model/tables.ts';
import { ask } from '../query/ask.ts';
import { plan } from '../query/plan.ts';
import { queryOf } from '../query/query.ts';
import { metricsOf, type ObjectSet, type Row, rowSet } from '../query/rows.ts';
import { AI_COUNTS, type AiCounts, planAiDays, readAiTotals } from './ai.ts';
import { compare, formatParameters, rangeParameters, readParameters } from './parameters.ts';
import { projectPreset, projectReference } from './preset.ts';
import {
  aiProperties,
  comparedProperties,
  day,
  integer,
  metricsProperties,
  nullable,
  object,
  openWords,
  project,
  range,
} from './schemas.ts';
import { readProjectOf } from './search-type.ts';

const parameters = { ...rangeParameters, compare, ...formatParameters };

interface SurfacesQuery extends Range {
  /** The day of the request (UTC). */
  readonly today: Day;
  readonly comparison: Range | null;
}

/** Reports about AI answers have measures of their own. */
const NO_METRICS = { clicks: null, impressions: null, ctr: null, position: null };

const surface = object('Surface', {
  engine: openWords(ENGINES, 'The search engine.'),
  type: openWords([...SEARCH_TYPES, 'ai'], 'The search type; `ai` for an imported report about AI answers.'),
  grain: openWords(['day'], 'The shortest time that is stored.'),
  firstDay: Type.String({ format: 'date', description: 'The first stored day.' }),
  lastDay: Type.String({ format: 'date', description: 'The last stored day.' }),
  provisionalAfter: nullable(day, 'The last final day; null if the engine does not say.'),
  stale: Type.Boolean({
    description: `Its newest day is more than ${STALE_AFTER_DAYS} days old; false for \`ai\`, which is imported.`,
  }),
  ...metricsProperties,
  clicks: nullable(integer({ minimum: 0 }), 'Null for `ai`, like impressions, ctr and position.'),
  impressions: nullable(integer({ minimum: 0 })),
  ...comparedProperties,
  aiImpressions: Type.Optional(aiProperties.aiImpressions),
  citations: Type.Optional(aiProperties.citations),
});

const answer = object('SurfacesAnswer', {
  project,
  range,
  totals: object('SurfaceTotals', { clicks: integer({ minimum: 0 }) }),
  surfaces: Type.Array(surface),
});

interface SurfaceRow extends Row {
  readonly surface: Static<typeof surface>;
}

/** The stored search types, other engines, and the reports about AI answers, each counted separately. */
export const surfacesPreset = projectPreset({
  path: '/projects/:id/surfaces',
  operation: 'listSurfaces',
  tag: 'Site',
  summary: 'The whole property by search type and engine',
  description: `One row for each search type with stored days, one for ${OTHER_ENGINES.map((engine) => SURFACES[engine].label).join(' and ')}, and one for each imported report about AI answers, which has measures of its own. Only clicks have a total: impressions and positions of search types are different things. Answers of AI are counted in web. Types without positions have null.`,
  answer,
  content: 'The surfaces.',
  examples: {
    200: '/projects/Proj1/surfaces?period=28d&compare=previous',
    400: '/projects/Proj1/surfaces?period=17m',
  },
  parameters,
  parse: (sent, project, now): SurfacesQuery => {
    const { compare: other, ...range } = readParameters(parameters, sent);
    const days = siteRange(range, project, now);
    return { ...days, today: dayOf(now), comparison: comparedRange(days, other) };
  },
  plan: async (query, { catalog, project }) => ({
    query,
    project,
    ...(await planSurfaces(catalog, project, query)),
  }),
  run: async ({ query, project, surfaces, ai, aiDays }, { facts }, { signal }) => {
    const { from, to, today, comparison } = query;
    const readRow = async ({ planned, coverage: { firstDay, lastDay } }: (typeof surfaces)[number]) => {
      const { total, metrics } = await ask(planned, facts, signal);
      const { query: of, project: ofSurface } = planned;
      const { engine } = SURFACES[of.surface];
      const surface = {
        engine,
        type: typeOf(of.surface),
        grain: 'day',
        firstDay,
        lastDay,
        provisionalAfter: ofSurface.provisionalAfter,
        stale: isStale(ofSurface.syncedThrough ?? lastDay, today),
      } as const;
      return { surface, total, metrics };
    };
    const [rows, counts] = await Promise.all([
      Promise.all(surfaces.map(readRow)),
      readAiTotals(facts, aiDays, { range: { from, to }, signal }),
    ]);
    const answer = {
      project: projectReference(project),
      range: { from, to, ...(comparison === null ? {} : { comparison }) },
      totals: { clicks: rows.reduce((sum, { total }) => sum + total.now.clicks, 0) },
      surfaces: [
        ...rows.map(({ surface, total, metrics }) => ({ ...surface, ...metricsOf(total, metrics) })),
        ...ai.map(({ engine, coverage: { firstDay, lastDay } }) => ({
          engine,
          type: 'ai' as const,
          grain: 'day' as const,
          firstDay,
          lastDay,
          provisionalAfter: null,
          stale: false,
          ...NO_METRICS,
          ...aiCountOf(engine, counts),
        })),
      ],
    };
    return { answer, rows };
  },
  // One row per stored search type, one for Bing, and one for each report about AI answers.
  rows: ({ answer: { project, range, surfaces }, rows }) => {
    // Reports about AI answers have no totals.
    const sets = surfaces.map((surface, at): ObjectSet<SurfaceRow> => {
      const row = rows[at];
      return rowSet([{ ...(row?.total ?? { now: UNKNOWN }), surface, names: [] }], row?.metrics);
    });
    return table({
      head: { name: `${project.domain}-surfaces`, total: surfaces.length, range },
      columns: [
        ...ofRows<SurfaceRow>(
          ['engine', 'text', ({ surface }) => surface.engine],
          ['type', 'text', ({ surface }) => surface.type],
          ['grain', 'text', ({ surface }) => surface.grain],
          ['firstDay', 'day', ({ surface }) => surface.firstDay],
          ['lastDay', 'day', ({ surface }) => surface.lastDay],
          ['provisionalAfter', 'day', ({ surface }) => surface.provisionalAfter],
        ),
        'metrics',
        'comparison',
        ...ofRows<SurfaceRow>(
          [
            'aiImpressions',
            'count',
            ({ surface }) => ('aiImpressions' in surface ? surface.aiImpressions : null) ?? null,
          ],
          ['citations', 'count', ({ surface }) => ('citations' in surface ? surface.citations : null) ?? null],
          ['stale', 'boolean', ({ surface }) => surface.stale],
        ),
        'sum_position',
      ],
      sets,
      isCompared: range.comparison !== undefined,
    });
  },
});

/** What the report of an engine counts. */
function aiCountOf(engine: AiEngine, counts: AiCounts): Partial<AiCounts> {
  const name = AI_COUNTS[engine];
  return { [name]: counts[name] };
}

async function planSurfaces(catalog: Catalog, project: Project, { from, to, comparison }: SurfacesQuery) {
  const covered = await readCoverage(catalog, project.id);
  const coverage: typeof covered = project.syncedThrough === null ? {} : covered;
  const planOf = async (surface: Surface, stored: Coverage) => ({
    planned: await plan(
      catalog,
      await readProjectOf(catalog, surface, project),
      queryOf({ from, to, surface, comparison }),
      coverage,
    ),
    coverage: stored,
  });
  const stored = SURFACE_NAMES.flatMap((type) => {
    const found = coverage[siteTable(type)];
    // Clicks of one country and those of all would be added up.
    const isOther = isOtherEngine(type) && project.country !== null;
    return found === undefined || isOther ? [] : [planOf(type, found)];
  });
  const ai = AI_ENGINES.flatMap((engine) => {
    const found = covered[AI_TABLES[engine].days] ?? covered[AI_TABLES[engine].pages];
    return found === undefined ? [] : [{ engine, coverage: found }];
  });
  // In parallel, to wait only once for a remote database.
  const [surfaces, aiDays] = await Promise.all([Promise.all(stored), planAiDays(catalog, project.id, { from, to })]);
  return { surfaces, ai, aiDays };
}
