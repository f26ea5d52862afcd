import { readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { type BrandTerm, brandTest } from '../domain/brand-terms.ts';
import { KnownError, notFound } from '../domain/errors.ts';
import { matchGroup, pagesOf, selectKeywords } from '../domain/groups.ts';
import { readsSums } from '../domain/predicate.ts';
import { keywordRange } from '../domain/project-ranges.ts';
import { type Rule, testOfRule } from '../domain/rules.ts';
import { planKeywordDays, planTotals, readTotals, refuseUnknownKeywords } from '../query/keyword-totals.ts';
import { inTurns } from '../runtime/turns.ts';
import { pagesPreset, queriesPreset } from './pages-and-queries.ts';
import { askPreset, type PresetSources } from './preset.ts';

/** Rows that a preview names; it counts all. */
const MAX_SHOWN = 1000;

/** Who asks about what. */
export interface PreviewRequest {
  readonly project: Project;
  readonly reader: string;
  readonly signal: AbortSignal;
}

/** The keywords that a group by this rule would have: like those of groups, over the last 28 days. */
export async function previewGroup(
  { trackedCache, facts, now }: PresetSources,
  { project: { workspaceId, id }, signal }: PreviewRequest,
  rule: Rule,
): Promise<{ total: number; keywords: { id: string; query: string }[] }> {
  const plan = await trackedCache.read(workspaceId, id, async ({ catalog, project, tracked }) => {
    const range = keywordRange({ from: undefined, to: undefined, period: undefined }, project, now());
    const days = readsSums(testOfRule(rule))
      ? await planKeywordDays(catalog, project, range, { tracked, coverage: await readCoverage(catalog, project.id) })
      : null;
    return { tracked, range, days, totals: await planTotals(catalog, project, range) };
  });
  if (plan === undefined) throw notFound('The project was removed.');
  const { tracked, range, days } = plan;
  await refuseUnknownKeywords(facts, days, signal, 'rule');
  const matches = [await inTurns(matchGroup({ id: '', rule }, tracked), signal)];
  const totals = await readTotals(facts, plan.totals, range, tracked, signal);
  const found = await inTurns(selectKeywords(tracked.keywords, matches, (keyword) => totals.of(keyword)));
  const keywords = found.slice(0, MAX_SHOWN).map(({ id: keyword, query }) => ({ id: keyword, query }));
  return { total: found.length, keywords };
}

/** The pages of the last 28 days that a page group would have, those with the most clicks first. */
export async function previewPageGroup(
  sources: PresetSources,
  request: PreviewRequest,
  group: { rule: Rule; pinnedUrls: readonly string[] },
): Promise<{ total: number; pages: string[] }> {
  const found = { total: 0, pages: [] as string[] };
  for await (const texts of eachText(sources, request, pagesPreset)) {
    const pages = await inTurns(pagesOf(group, texts), request.signal);
    found.pages.push(...pages.slice(0, MAX_SHOWN - found.pages.length));
    found.total += pages.length;
  }
  return found;
}

/**
 * The queries that other brand terms would make brand queries, or no longer: of those of the last 28 days, the ones with the
 * most clicks first, and tracked ones.
 */
export async function previewBrandTerms(
  sources: PresetSources,
  request: PreviewRequest,
  terms: readonly BrandTerm[],
): Promise<object> {
  const { project } = request;
  const [isNow, isThen] = [brandTest(project.brandTerms), brandTest(terms)];
  const counts = { before: 0, after: 0 };
  const changed = { added: [] as string[], removed: [] as string[] };
  const seen = new Set<string>();
  const count = (query: string): void => {
    const text = query.toLowerCase();
    if (seen.has(text)) return;
    seen.add(text);
    const [before, after] = [isNow(text), isThen(text)];
    counts.before += Number(before);
    counts.after += Number(after);
    const list = after ? changed.added : changed.removed;
    if (before !== after && list.length < MAX_SHOWN) list.push(query);
  };
  try {
    for await (const texts of eachText(sources, request, queriesPreset)) await inTurns(eachOf(texts, count));
  } catch (error) {
    // Without a list of queries, tracked ones are all that is known.
    if (!(error instanceof KnownError && error.reason === 'list-without-source')) throw error;
  }
  const tracked = await sources.trackedCache.read(project.workspaceId, project.id, (read) => read.tracked.keywords);
  const queries = (tracked ?? []).map(({ query }) => query);
  await inTurns(eachOf(queries, count));
  // biome-ignore lint/suspicious/noThenProperty: no function, so nothing takes it for a promise
  return { branded: { now: counts.before, then: counts.after }, ...changed };
}

/** The texts of a list over the last 28 days, in batches. Throws what the list throws. */
async function* eachText(
  sources: PresetSources,
  { project: { workspaceId: workspace, id }, reader, signal }: PreviewRequest,
  report: typeof pagesPreset,
): AsyncGenerator<string[]> {
  const request = { workspace, projects: null, id, reader, signal };
  const { rows } = await askPreset(report, sources, request, { format: 'ndjson' });
  for await (const batch of rows ?? []) yield batch.map(({ text }) => text);
}

function* eachOf(texts: readonly string[], work: (text: string) => void): Generator<void, void> {
  for (const text of texts) {
    work(text);
    yield;
  }
}
