import type { DigestProject } from '../catalog/delivery-body.ts';
import { KnownError } from '../domain/errors.ts';
import type { Range } from '../domain/range.ts';
import { pagesReport } from '../reports/pages.ts';
import { answerCurrent, type ReportRequest, type ReportSources } from '../reports/report.ts';

/** Rows that have won, and that have lost. */
const EACH = 5;

/** The pages whose clicks have changed most; none where the lists of both ranges cannot be had. */
export async function moversOf(
  sources: ReportSources,
  request: ReportRequest,
  { range, comparison }: { range: Range; comparison: Range },
): Promise<DigestProject['movers']> {
  try {
    const now = await clicksOf(sources, request, range);
    const base = await clicksOf(sources, request, comparison);
    const rows = [...new Set([...now.keys(), ...base.keys()])].map((page) => {
      const clicks = { now: now.get(page) ?? 0, base: base.get(page) ?? 0 };
      return { page, clicks: { ...clicks, difference: clicks.now - clicks.base } };
    });
    const moved = rows
      .filter(({ clicks }) => clicks.difference !== 0)
      .sort((a, b) => Math.abs(b.clicks.difference) - Math.abs(a.clicks.difference) || (a.page < b.page ? -1 : 1));
    const first = (isUp: boolean) => moved.filter(({ clicks }) => clicks.difference > 0 === isUp).slice(0, EACH);
    return { by: 'page', up: first(true), down: first(false) };
  } catch (error) {
    // Without a source, or while the provider cannot be reached: the rest of the digest is worth sending.
    if (!(error instanceof KnownError)) throw error;
    return { by: null, up: [], down: [] };
  }
}

/** Clicks of all pages of a range. */
async function clicksOf(sources: ReportSources, request: ReportRequest, range: Range): Promise<Map<string, number>> {
  const { rows } = await answerCurrent(async () => {
    const project = await pagesReport.find(sources, request);
    const query = pagesReport.parse({ ...range, format: 'ndjson' }, project, sources.now());
    return pagesReport.run(query, sources, request);
  });
  const clicks = new Map<string, number>();
  for await (const part of rows ?? []) for (const row of part) clicks.set(row.text, row.clicks);
  return clicks;
}
