import { WHY_DIFFERENCES } from '../../../domain/unsafe-texts.ts';
import { describeUnsafe } from '../lib/changes.ts';
import { addDays, countDays } from '../lib/dates.ts';
import { plural } from '../lib/format.ts';
import type { Compared, Quality, Range } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Icon } from './icons.tsx';

interface Rated {
  readonly range: Range;
  readonly totals: Compared;
  readonly quality?: Quality | undefined;
}

/** What is to be known of the days of a range, and why its changes are differences and not percentages. */
export function Caveats({ answer: { range, totals, quality } }: { answer: Rated }) {
  const view = useView();
  const days = describeDays(quality);
  const reasons = describeUnsafe(totals, days);
  const shown = reasons.length > 0 ? reasons : Object.values(days);
  if (shown.length === 0) return null;
  const last = quality?.finalThrough ?? null;
  // As many days, up to the last one that is final.
  const back = last === null || last >= range.to || last < range.from ? 0 : countDays({ from: last, to: range.to }) - 1;
  return (
    <p class="caveats">
      <Icon name="info" size={14} />
      <span>
        {reasons.length > 0 ? WHY_DIFFERENCES : 'Of these days, '}
        {shown.join('; ')}.{' '}
        {back > 0 && (
          <a href={view.with({ period: null, from: addDays(range.from, -back), to: last })}>Use final days only</a>
        )}
      </span>
    </p>
  );
}

/** How many days of the range are not as they should be, by the reason that the API gives for it. */
function describeDays(quality: Quality | undefined): Readonly<Record<string, string>> {
  if (quality === undefined) return {};
  const { daysExpected, daysStored, daysProvisional, daysCutOff } = quality;
  const counts = [
    ['provisional', daysProvisional, 'may still change'],
    ['missing_days', daysExpected - daysStored, daysExpected - daysStored === 1 ? 'is missing' : 'are missing'],
    ['cut_off', daysCutOff, 'lack rows that the search engine left out'],
  ] as const;
  return Object.fromEntries(
    counts.flatMap(([reason, count, what]) => (count > 0 ? [[reason, `${plural(count, 'day')} ${what}`]] : [])),
  );
}
