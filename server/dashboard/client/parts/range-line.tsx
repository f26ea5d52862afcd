import { formatRange } from '../lib/dates.ts';
import type { SiteAnswer } from '../lib/types.ts';

/** The days that are shown, and those that they are compared with. */
export function RangeLine({ range }: { range: SiteAnswer['range'] }) {
  return (
    <p class="muted range-line">
      {formatRange(range)}
      {range.comparison && ` compared with ${formatRange(range.comparison)}`}
    </p>
  );
}
