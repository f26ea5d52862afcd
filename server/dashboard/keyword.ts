import { filesOf } from '../catalog/fact-files.ts';
import { findKeyword } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { notFound } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { toMetrics } from '../domain/metrics.ts';
import { keywordRange } from '../domain/project-ranges.ts';
import { versionOf } from '../domain/versions.ts';
import { rowsWith } from '../facts/sums.ts';
import { editedOfKeyword } from '../operations/keywords.ts';
import { rangeParameters, readParameters } from '../presets/parameters.ts';
import type { PresetSources } from '../presets/preset.ts';

/** Pages in the answer. */
const MAX_PAGES = 20;

interface KeywordQuestion {
  readonly project: Project;
  /** Id of a tracked keyword, as sent. */
  readonly keyword: string;
  readonly parameters: unknown;
  readonly signal: AbortSignal;
}

/** A tracked keyword and the pages that ranked for it, over all devices. Throws `not_found`. */
export async function readKeyword(sources: PresetSources, { project, keyword, parameters, signal }: KeywordQuestion) {
  const range = keywordRange(readParameters(rangeParameters, parameters), project, sources.now());
  const read = await sources.trackedCache.read(project.workspaceId, project.id, async ({ catalog, tracked }) => ({
    found: tracked.keywords.find(({ id }) => id === keyword),
    groupIds: tracked.membership.groupsOf.get(keyword) ?? [],
    managed: await findKeyword(catalog, project.id, keyword),
    pages: await filesOf(catalog, project.id, 'keyword_page_daily', range),
  }));
  if (read?.found === undefined) throw notFound('The project tracks no such keyword.');
  const { found, managed, groupIds, pages } = read;
  const { tags, targetUrl } = managed!;
  const ranking = await sources.facts.sums({
    files: pages,
    range,
    signal,
    table: 'keyword_page_daily',
    by: ['url'],
    test: rowsWith('keyword_id', [keyword]),
    hasZeros: true,
    page: { order: [{ by: 'impressions', descending: true }], limit: MAX_PAGES, offset: 0 },
  });
  return {
    range,
    keyword: { ...found, trackedSince: isoInstant(found.trackedSince), groupIds, tags, targetUrl },
    version: versionOf(editedOfKeyword(managed!)),
    pages: ranking.rows.map(({ names: [url], now }) => ({ url: url!, ...toMetrics(now) })),
  };
}
