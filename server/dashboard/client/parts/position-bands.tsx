import { formatDate, formatShortDay } from '../lib/dates.ts';
import { formatCount } from '../lib/format.ts';
import { BANDS } from '../lib/positions.ts';
import type { Tracker } from '../lib/tracker.ts';
import { useView } from '../lib/view.ts';

/** The bands, and those that do not rank; the last ones in the counts of the tracker. */
const NAMES = [
  ...BANDS.map(([name, text]) => ({ name, text: `Position ${text}` })),
  { name: 'none', text: 'Not ranking' },
];

/** How many keywords rank where, and how many more than before; each number is the filter for it. */
export function PositionBands({ tracker }: { tracker: Tracker | undefined }) {
  const view = useView();
  const chosen = view.get('positions');
  return (
    <nav class="buckets" aria-label="Keywords by position">
      {NAMES.map(({ name, text }, index) => {
        const now = tracker?.now[index];
        const difference = tracker?.before ? now! - tracker.before[index]! : 0;
        return (
          <a
            key={name}
            class="bucket card"
            href={view.with({ positions: chosen === name ? null : name, offset: null })}
            aria-current={chosen === name ? 'true' : undefined}
          >
            <span>
              <span class={`dot band-${index}`} /> {text}
            </span>
            <strong>{now === undefined ? '\u00a0' : formatCount(now)}</strong>
            <span class="muted">{tracker?.before ? differenceText(difference) : '\u00a0'}</span>
          </a>
        );
      })}
    </nav>
  );
}

function differenceText(difference: number): string {
  if (difference === 0) return 'as before';
  return `${formatCount(Math.abs(difference))} ${difference > 0 ? 'more' : 'fewer'}`;
}

const HEIGHT = 120;

/** The keywords of each band by day, stacked; the same as a table for those who do not see it. */
export function Distribution({ tracker }: { tracker: Tracker }) {
  const { days, distribution } = tracker;
  const most = Math.max(1, ...distribution.map((counts) => counts.reduce((sum, count) => sum + count, 0)));
  const width = 100 / days.length;
  const bands = NAMES.slice(0, -1);
  return (
    <figure class="card distribution">
      <figcaption>Keywords by position over time</figcaption>
      <svg viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" height={HEIGHT} aria-hidden="true">
        {days.map((day, at) => {
          let top = HEIGHT;
          return (
            <g key={day}>
              {distribution[at]!.map((count, band) => {
                const height = (HEIGHT * count) / most;
                top -= height;
                return <rect class={`band-${band}`} x={at * width} y={top} width={width * 0.88} height={height} />;
              })}
              <title>{`${formatShortDay(day)}: ${bands.map(({ text }, band) => `${text} ${distribution[at]![band]!}`).join(', ')}`}</title>
            </g>
          );
        })}
      </svg>
      <p class="distribution-days muted">
        <span>{formatDate(days[0]!)}</span>
        <span>{formatDate(days.at(-1)!)}</span>
      </p>
      <div class="sr-only">
        <table>
          <caption>Keywords by position</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {bands.map(({ text }) => (
                <th key={text} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day, at) => (
              <tr key={day}>
                <th scope="row">{formatShortDay(day)}</th>
                {distribution[at]!.map((count, band) => (
                  <td key={bands[band]!.name}>{count}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
