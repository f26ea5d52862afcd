import type { Catalog } from '../catalog/catalog.ts';
import { type Coverage, readCoverage } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, dayOf } from '../domain/dates.ts';
import { isStale } from '../domain/finality.ts';
import { comparedRange, siteRange } from '../domain/project-ranges.ts';
import type { Range } from '../domain/range.ts';
import { isOtherEngine, SURFACE_NAMES, SURFACES, type Surface, typeOf } from '../model/surfaces.ts';
import { AI_ENGINES, AI_TABLES, type AiEngine, siteTable } from '../model/tables.ts';
import { ask } from '../query/ask.ts';
import { plan } from '../query/plan.ts';
import { queryOf } from '../query/query.ts';
import { metricsOf } from '../query/rows.ts';
import { AI_COUNTS, type AiCounts, planAiDays, readAiTotals } from './ai.ts';
import { compare, formatParameters, rangeParameters, readParameters } from './parameters.ts';
import { projectReference, projectReport } from './report.ts';
import { readProjectOf } from './search-type.ts';

const parameters = { ...rangeParameters, compare, ...formatParameters };

interface SurfacesQuery extends Range {
  /** The day of the request (UTC). */
  readonly today: Day;
  readonly comparison: Range | null;
}

/** Reports about AI answers have measures of their own. */
const NO_METRICS = { clicks: null, impressions: null, ctr: null, position: null };

/** The stored search types, other engines, and the reports about AI answers, each counted separately. */
export const surfacesReport = projectReport({
  operation: 'listSurfaces',
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
});

/** What the report of an engine counts. */
function aiCountOf(engine: AiEngine, counts: AiCounts): Partial<AiCounts> {
  const name = AI_COUNTS[engine];
  return { [name]: counts[name] };
}

/** The JSON response, and the sums behind its rows. */
export type SurfacesResult = Awaited<ReturnType<typeof surfacesReport.run>>;

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
