import type { DigestProject } from '../catalog/delivery-body.ts';
import { KnownError } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import { explainReport } from '../presets/explain.ts';
import { askReport, type ReportRequest, type ReportSources } from '../presets/report.ts';

/** Rows that have won, and that have lost. */
const EACH = 5;
/** Rows to find them in, those that changed most first. */
const LIMIT = 1000;
const NONE: DigestProject['movers'] = { by: null, up: [], down: [] };

/**
 * The pages that explain most of the change from the range just before; none where their lists cannot be had, or lack days:
 * a page that is not stored would look like one that was lost or is new.
 */
export async function moversOf(
  sources: ReportSources,
  request: ReportRequest,
  range: Range,
): Promise<DigestProject['movers']> {
  try {
    const asked = { ...range, by: 'page', limit: String(LIMIT) };
    const { rows, unsafe } = await askReport(explainReport, sources, request, asked);
    if (unsafe.some(({ what, reason }) => what === 'rows' && reason === 'missing_days')) return NONE;
    const movers = rows.flatMap((row) => ('page' in row ? [{ page: row.page, clicks: row.clicks }] : []));
    const first = (isIt: (difference: number) => boolean) =>
      movers.filter(({ clicks }) => isIt(clicks.difference)).slice(0, EACH);
    return { by: 'page', up: first((difference) => difference > 0), down: first((difference) => difference < 0) };
  } catch (error) {
    // Without a source, or while the provider cannot be reached: the rest of the digest is worth sending.
    if (!(error instanceof KnownError)) throw error;
    return NONE;
  }
}
