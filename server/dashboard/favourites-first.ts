import { paging, readParameters } from '../presets/parameters.ts';
import { type PortfolioResult, portfolioPreset } from '../presets/portfolio.ts';
import type { PortfolioRow } from '../presets/portfolio-rows.ts';
import { askPreset, type PresetRequest, type PresetSources } from '../presets/preset.ts';
import { inOneBatch } from '../runtime/turns.ts';

interface Asked {
  /** Those of the portfolio. */
  readonly sent: Readonly<Record<string, string>>;
  readonly request: PresetRequest;
  /** Ids of the projects that come before all others. */
  readonly favourites: readonly string[];
}

/** A page of the portfolio with some projects before all others; both groups are in the order of the portfolio. */
export async function readFavouritesFirst(
  sources: PresetSources,
  { sent, request, favourites }: Asked,
): Promise<Pick<PortfolioResult, 'paging' | 'batches'>> {
  const { limit, offset } = readParameters(paging(1000, 5000), sent);
  const { daily, interval, limit: _limit, offset: _offset, ...others } = sent;
  const read = async (asked: object, projects: readonly string[] | null): Promise<PortfolioRow[]> => {
    const part = { ...request, projects };
    const { batches } = await askPreset(portfolioPreset, sources, part, { ...asked, format: 'ndjson' });
    return (await Array.fromAsync(batches)).flat();
  };
  const all = await read(others, request.projects);
  const { true: marked = [], false: rest = [] } = Object.groupBy(all, (row) => String(favourites.includes(idOf(row))));
  const page = [...marked, ...rest].slice(offset, offset + limit);
  const paged = { total: all.length, limit, offset };
  if (daily === undefined || page.length === 0) return { paging: paged, batches: inOneBatch(page) };
  const { filter: _filter, sort: _sort, ...range } = others;
  const days = await read({ ...range, daily, ...(interval && { interval }) }, page.map(idOf));
  const byId = new Map(days.map((row) => [idOf(row), row]));
  return { paging: paged, batches: inOneBatch(page.map((row) => byId.get(idOf(row)) ?? row)) };
}

function idOf({ planned }: PortfolioRow): string {
  return planned.listed.id;
}
