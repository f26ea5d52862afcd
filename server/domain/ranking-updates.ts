import type { Day } from './dates.ts';
import type { Range } from './range.ts';

/** An announced change of how the search engine ranks. Counting stays the same; clicks of many sites change at once. */
export interface RankingUpdate {
  readonly title: string;
  /** First and last day of its roll-out, Pacific. */
  readonly from: Day;
  readonly to: Day;
  /** The URL of the search engine's own record. */
  readonly source: string;
}

const SOURCE = 'https://status.search.google.com/products/rGHU1u87FJnkP6W2GwMi/history';

const update = (title: string, from: Day, to: Day): RankingUpdate => ({ title, from, to, source: SOURCE });

/** Ranking updates of Google Search from its status dashboard, oldest first; read on 2026-11-25, complete to 2026-06. */
export const RANKING_UPDATES: readonly RankingUpdate[] = [
  update('March 2024 core update', '2024-03-05', '2024-04-19'),
  update('March 2024 spam update', '2024-03-05', '2024-03-20'),
  update('June 2024 spam update', '2024-06-20', '2024-06-27'),
  update('August 2024 core update', '2024-08-15', '2024-09-03'),
  update('November 2024 core update', '2024-11-11', '2024-12-05'),
  update('December 2024 core update', '2024-12-12', '2024-12-18'),
  update('December 2024 spam update', '2024-12-19', '2024-12-26'),
  update('March 2025 core update', '2025-03-13', '2025-03-27'),
  update('June 2025 core update', '2025-06-30', '2025-07-17'),
  update('August 2025 spam update', '2025-08-26', '2025-09-22'),
  update('December 2025 core update', '2025-12-11', '2025-12-29'),
  update('March 2026 spam update', '2026-03-24', '2026-03-25'),
  update('March 2026 core update', '2026-03-27', '2026-04-08'),
  update('May 2026 core update', '2026-05-21', '2026-06-02'),
  update('June 2026 spam update', '2026-06-24', '2026-06-26'),
];

/** The ranking updates that were rolled out on any day of a range. */
export function rankingUpdatesIn({ from, to }: Range): RankingUpdate[] {
  return RANKING_UPDATES.filter((one) => one.from <= to && one.to >= from);
}
