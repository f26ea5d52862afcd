import type { PortfolioResult } from '../reports/portfolio.ts';
import type { PortfolioRow } from '../reports/portfolio-rows.ts';
import { siteMetrics, siteRow } from '../reports/site-answer.ts';
import { inTurns } from '../runtime/turns.ts';

/** All projects of a response. */
export async function portfolioJson(result: Pick<PortfolioResult, 'paging' | 'batches'>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(portfolioChunks(result)));
}

/** Projects in chunks, for responses that are too long for memory. */
export async function* portfolioChunks({
  paging,
  batches,
}: Pick<PortfolioResult, 'paging' | 'batches'>): AsyncGenerator<Buffer, void> {
  let start = `{"paging":${JSON.stringify(paging)},"projects":[`;
  for await (const rows of batches) {
    for (let at = 0; at < rows.length; at += ROWS_PER_CHUNK) {
      const json = await inTurns(rowsJson(rows.slice(at, at + ROWS_PER_CHUNK)));
      yield Buffer.from(start + json);
      start = ',';
    }
  }
  yield Buffer.from(start === ',' ? ']}' : `${start}]}`);
}

/** With days of 16 months, a row is up to 200 kB long. */
const ROWS_PER_CHUNK = 20;

function* rowsJson(rows: readonly PortfolioRow[]): Generator<void, string> {
  const texts: string[] = [];
  for (const row of rows) {
    texts.push(JSON.stringify(rowJson(row)));
    yield;
  }
  return texts.join(',');
}

function rowJson({ planned: { listed }, site }: PortfolioRow): object {
  if ('error' in site) return { ...listed, range: null, totals: null, error: site.error };
  const { range, quality, total, daily } = site;
  return {
    ...listed,
    range,
    ...(quality && { quality }),
    totals: siteMetrics(total),
    ...(daily && { daily: daily.map(siteRow) }),
  };
}
