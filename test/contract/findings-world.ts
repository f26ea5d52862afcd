// Random sites of which findings of every kind can be made, and random questions about them.

import type { Random } from '../random.ts';
import type { Row, Tables } from '../world.ts';
import { number, text } from './oracle-terms.ts';

/** The last day of a site, three days after the last final one. */
const LAST = number('2026-03-10');
/** Moves of all days: onto days of other counting, and over each edge of them. */
const MOVES = [0, 0, 110, 110, 55, -130, -240];
/** Texts whose order by bytes is not that of their UTF-16 units. */
const WORDS = ['Red shoes', 'acme boots', 'cafÉ', '\u{1f40d} skin', 'Ａ wide b', 'B-side', 'cheapacmes', 'a'];

export interface FindingsWorld {
  readonly tables: Tables;
  /** The last day. */
  readonly last: number;
}

export function findingsWorld(dice: Random): FindingsWorld {
  const last = LAST + dice.pick(MOVES);
  const length = dice.pick([260, 260, 260, 230, 190, 120, 62]);
  const gaps = new Set(dice.once(3) ? Array.from({ length: dice.whole(1, 4) }, () => last - dice.whole(0, 230)) : []);
  const days = Array.from({ length }, (_, at) => last - at).filter((day) => !gaps.has(day));
  const of = (more: Row): Row => ({ project_id: 'Proj1', ...more });
  const season = (day: number): number => 1 + 0.3 * Math.sin(day / 9);
  const rowsOf = (column: string, names: readonly string[], most: number): Row[] =>
    names.flatMap((name) => {
      const shown = shape(dice, last, most);
      return days.flatMap((day) =>
        ['usa', 'gbr'].flatMap((country, at) => {
          const impressions = Math.round(
            shown.impressions(day) * season(day) * (0.6 + 0.8 * dice.next()) * (at ? 0.3 : 1),
          );
          if (impressions === 0) return [];
          const place = Math.max(1, shown.position(day) + dice.next() - 0.5);
          const rate = Math.min(1, (0.4 / place) * shown.ctr(day));
          const clicks = Math.min(impressions, Math.floor(impressions * rate + dice.next()));
          const sum_position = Math.round(impressions * (place - 1));
          return [of({ date: text(day), [column]: name, country, clicks, impressions, sum_position })];
        }),
      );
    });
  const queries = Array.from({ length: dice.whole(14, 32) }, (_, at) => `${dice.pick(WORDS)} ${at}`);
  const pages = Array.from({ length: dice.whole(4, 20) }, (_, at) => `https://shop.example/${dice.pick(WORDS)}/${at}`);
  const ids = ['Kw001', 'kw002', 'Kw003', 'KW004', 'kw005'];
  const urls = ['a', 'b', 'é', 'Z', '\u{1f40d}', 'Ａ'].map((path) => `https://shop.example/${path}`);
  const hasPages = !dice.once(5);
  const recent = days.filter((day) => day > last - 90);
  return {
    last,
    tables: {
      workspaces: [{ id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: dice.pick([486, 60, 25, 9]) }],
      projects: [
        {
          ...{ id: 'Proj1', workspace_id: 'acme', domain: 'shop.example', property: 'sc-domain:shop.example' },
          brand_terms: dice.pick([[], ['Acme'], ['acme', 'RED']]),
          last_synced_at: `${text(last)}T04:05:06Z`,
          ...{ synced_through: text(last), provisional_after: text(last - 3), created_at: '2025-01-01T00:00:00Z' },
        },
      ],
      keywords: ids.map((id, at) =>
        of({ id, query: `${WORDS[at]!} kw`, tracked_since: '2025-01-01T00:00:00Z', archived: dice.once(6) }),
      ),
      site_daily: days
        .filter(() => !dice.once(60))
        .map((date) =>
          of({ date: text(date), device: 'mobile', clicks: 300, impressions: 9000, sum_position: 20_000 }),
        ),
      query_daily: rowsOf('query', queries, 160),
      page_daily: rowsOf('url', pages, 300),
      keyword_daily: recent.flatMap((date) =>
        ids.flatMap((keyword_id) =>
          dice.once(6)
            ? []
            : [
                of({
                  date: text(date),
                  keyword_id,
                  device: 'mobile',
                  clicks: 1,
                  impressions: dice.whole(2, 8),
                  sum_position: 9,
                }),
              ],
        ),
      ),
      // Small numbers, so that pages are often equal.
      ...(hasPages && {
        keyword_page_daily: recent.flatMap((date) =>
          ids.flatMap((keyword_id, at) =>
            urls
              .slice(0, 2 + at)
              .filter(() => dice.once(2))
              .flatMap((url) =>
                (dice.once(8) ? [url, `${url}#part`] : [url]).map((each) =>
                  of({
                    date: text(date),
                    keyword_id,
                    url: each,
                    clicks: 0,
                    impressions: dice.whole(1, 2),
                    sum_position: 3,
                  }),
                ),
              ),
          ),
        ),
      }),
    },
  };
}

/** How a row is shown by day: steady, or with a change that a test looks for. */
function shape(dice: Random, last: number, most: number) {
  const level = most * dice.next() ** 2 + 2;
  const place = 1 + 18 * dice.next() ** 1.5;
  const change = last - dice.whole(5, 70);
  const by = dice.pick([0.3, 0.5, 2, 3]);
  const kind = dice.pick(['steady', 'steady', 'steady', 'ctr', 'demand', 'place', 'gone', 'arrived', 'decay', 'burst']);
  const after = (day: number, factor: number): number => (day >= change ? factor : 1);
  const demand: Readonly<Record<string, (day: number) => number>> = {
    demand: (day) => after(day, by),
    gone: (day) => after(day, 0),
    arrived: (day) => 1 - after(day, 0),
    decay: (day) => 0.985 ** ((day - last) / 7),
    burst: (day) => (Math.floor(day / 20) % 4 === 0 ? 4 : 0.3),
  };
  return {
    impressions: (day: number): number => level * (demand[kind]?.(day) ?? 1),
    position: (day: number): number => (kind === 'place' ? Math.min(50, place * after(day, by)) : place),
    ctr: (day: number): number => (kind === 'ctr' ? after(day, by) : 1),
  };
}

/** A question about findings, valid or invalid. */
export function findingsQuestion(dice: Random, last: number): string {
  const words: string[] = [];
  const to = last - dice.whole(-2, 40);
  const way = dice.pick(['none', 'none', 'period', 'period and to', 'from and to']);
  if (way.startsWith('period'))
    words.push(`period=${dice.pick(['7d', '14d', '28d', '28d', '10d', '30d', '1m', '3d', '40d'])}`);
  if (way.endsWith('to')) words.push(`to=${text(to)}`);
  if (way.startsWith('from')) words.push(`from=${text(to - dice.whole(0, 34))}`);
  if (dice.once(4)) words.push(`country=${dice.pick(['usa', 'GBR', 'fra'])}`);
  if (dice.once(2)) words.push(`q=${dice.pick(['0.01', '0.05', '0.2', '0.5', '0.5'])}`);
  if (dice.once(4)) words.push(`type=${dice.pick(['low_ctr', 'falling', 'split', 'near_top'])}`);
  if (dice.once(8)) words.push(`type=${dice.pick(['new', 'lost', 'rising'])}`);
  if (dice.once(5)) words.push(`limit=${dice.pick(['1', '3', '1000'])}`);
  if (dice.once(6)) words.push(`offset=${dice.pick(['1', '5', '1000'])}`);
  if (dice.once(25))
    words.push(dice.pick(['q=0.9', 'q=x', 'limit=0', 'limit=1001', 'offset=-1', 'type=none', 'country=us']));
  return `/projects/Proj1/findings?${[...new Map(words.map((word) => [word.startsWith('type') ? word : word.split('=')[0], word])).values()].join('&')}`;
}
