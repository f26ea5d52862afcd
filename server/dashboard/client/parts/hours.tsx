import { apiPath, useResource } from '../lib/api.ts';
import { addDays } from '../lib/dates.ts';
import { exactMetric, formatMetric, plural } from '../lib/format.ts';
import type { Day, HoursAnswer } from '../lib/types.ts';
import { NumberHeading } from './numbers.tsx';

type Hour = HoursAnswer['hours'][number];

/** Hours that are shown. */
const SHOWN = 48;
/** Hours that are compared with those a week before. */
const COMPARED = 24;

/** The newest stored hours of a property, beside those a week before; nothing where none are stored. */
export function NewestHours({ project }: { project: { readonly id: string } }) {
  // Pacific days end later than those of UTC, never earlier.
  const from = addDays(new Date().toISOString().slice(0, 10), -10);
  const { data } = useResource<HoursAnswer>(apiPath(`/projects/${project.id}/hours`, { from }));
  if (data === undefined || data.hours.length === 0) return null;
  const complete = data.hours.filter((hour) => isComplete(data, hour)).slice(-COMPARED);
  const before = complete.map((hour) => weekBefore(data, hour));
  const sum = (hours: readonly (Hour | undefined)[]): number =>
    hours.reduce((all, each) => all + (each?.clicks ?? 0), 0);
  return (
    <section class="card hours" aria-label="By hour">
      <header>
        <h2>By hour</h2>
        {complete.length > 0 && (
          <p class="muted">
            {plural(sum(complete), 'click')} in the last {complete.length} complete hours
            {!before.includes(undefined) && `, ${formatMetric('clicks', sum(before))} in the same hours a week before`}.
            Hours are counted separately: they do not add up to days.
          </p>
        )}
      </header>
      <HourBars answer={data} hours={data.hours.slice(-SHOWN)} />
    </section>
  );
}

/** The hours around a day, for an alert about it. */
export function HoursAround({ project, date }: { project: { readonly id: string }; date: Day }) {
  const range = { from: addDays(date, -9), to: addDays(date, 1) };
  const { data } = useResource<HoursAnswer>(apiPath(`/projects/${project.id}/hours`, range));
  if (data === undefined || data.hours.length === 0) return null;
  const from = addDays(date, -1);
  return <HourBars answer={data} hours={data.hours.filter(({ hour }) => hour.slice(0, 10) >= from)} />;
}

function HourBars({ answer, hours }: { answer: HoursAnswer; hours: readonly Hour[] }) {
  const rows = hours.map((hour) => ({ ...hour, before: weekBefore(answer, hour), isFinal: isComplete(answer, hour) }));
  const most = Math.max(1, ...rows.flatMap(({ clicks, before }) => [clicks, before?.clicks ?? 0]));
  const height = (clicks: number): string => `height: ${((100 * clicks) / most).toFixed(2)}%`;
  return (
    <>
      <div class="hour-bars" aria-hidden="true">
        {rows.map(({ hour, clicks, before, isFinal }) => (
          <div key={hour} class={isFinal ? 'hour' : 'hour is-provisional'} title={`${nameOf(hour)}: ${clicks}`}>
            <i class="bar" style={height(clicks)} />
            {before && <i class="before" style={height(before.clicks)} />}
          </div>
        ))}
      </div>
      <p class="hour-ends muted" aria-hidden="true">
        <span>{nameOf(rows[0]!.hour)}</span>
        <span>Lines: a week before</span>
        <span>{nameOf(rows.at(-1)!.hour)}, Pacific time</span>
      </p>
      <details>
        <summary>Table of hours</summary>
        <table class="metric-table">
          <thead>
            <tr>
              <th scope="col">Hour, Pacific time</th>
              <NumberHeading>Clicks</NumberHeading>
              <NumberHeading>A week before</NumberHeading>
              <NumberHeading>Impressions</NumberHeading>
            </tr>
          </thead>
          <tbody>
            {rows.toReversed().map(({ hour, clicks, impressions, before, isFinal }) => (
              <tr key={hour}>
                <th scope="row">
                  {nameOf(hour)}
                  {!isFinal && <span class="muted"> may still change</span>}
                </th>
                <td class="number">{exactMetric('clicks', clicks)}</td>
                <td class="number">{before ? exactMetric('clicks', before.clicks) : '–'}</td>
                <td class="number">{exactMetric('impressions', impressions)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

function isComplete({ range }: HoursAnswer, { hour }: Hour): boolean {
  return range.provisionalAfter !== null && Date.parse(hour) <= Date.parse(range.provisionalAfter);
}

/** The hour that the clock called the same a week before. */
function weekBefore({ hours }: HoursAnswer, { hour }: Hour): Hour | undefined {
  const name = addDays(hour.slice(0, 10), -7) + hour.slice(10, 13);
  return hours.find((each) => each.hour.startsWith(name));
}

/** `Nov 24, 07:00` */
function nameOf(hour: string): string {
  const day = new Date(`${hour.slice(0, 10)}T00:00Z`);
  const date = day.toLocaleDateString(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  return `${date}, ${hour.slice(11, 16)}`;
}
