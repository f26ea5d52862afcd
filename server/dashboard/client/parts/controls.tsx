import { useEffect, useState } from 'preact/hooks';
import { addDays, countDays, MAX_DAYS } from '../lib/dates.ts';
import { countryName } from '../lib/format.ts';
import type { Project } from '../lib/types.ts';
import { intervalOf, rangeOf, useView } from '../lib/view.ts';
import { Icon } from './icons.tsx';

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly onChange: (value: string) => void;
}

/** One of a few values, as the system's own list. */
export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <span class="select">
      <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
      <Icon name="chevron" />
    </span>
  );
}

const PERIODS = [
  ['7d', 'Last 7 days'],
  ['28d', 'Last 28 days'],
  ['3m', 'Last 3 months'],
  ['6m', 'Last 6 months'],
  ['12m', 'Last 12 months'],
  ['16m', 'Last 16 months'],
] as const;

/** The range of days: one of the usual periods, or any two days. */
export function PeriodSelect({ project }: { project: Project | undefined }) {
  const view = useView();
  const isCustom = view.period === null;
  const known = isCustom || PERIODS.some(([period]) => period === view.period);
  const options = [...(known ? [] : [[view.period!, `Last ${view.period}`] as const]), ...PERIODS];
  const choose = (value: string): void => {
    if (value !== 'custom') view.change({ period: value, from: null, to: null, offset: null });
    else view.change({ period: null, ...rangeOf(view, project), offset: null });
  };
  return (
    <>
      <Select
        label="Period"
        value={view.period ?? 'custom'}
        options={[...options, ['custom', 'Other days…'] as const]}
        onChange={choose}
      />
      {isCustom && <TwoDays from={view.from!} to={view.to!} />}
    </>
  );
}

function TwoDays({ from, to }: { from: string; to: string }) {
  const view = useView();
  const [days, setDays] = useState({ from, to });
  useEffect(() => setDays({ from, to }), [from, to]);
  const choose = (changed: Partial<typeof days>): void => {
    let next = { ...days, ...changed };
    // A half-typed day is empty.
    if (next.from === '' || next.to === '') {
      setDays(next);
      return;
    }
    if (next.from > next.to)
      next = changed.from === undefined ? { ...next, from: next.to } : { ...next, to: next.from };
    if (countDays(next) > MAX_DAYS) {
      next =
        changed.from === undefined
          ? { ...next, from: addDays(next.to, 1 - MAX_DAYS) }
          : { ...next, to: addDays(next.from, MAX_DAYS - 1) };
    }
    setDays(next);
    view.change({ ...next, period: null, offset: null }, { replace: true });
  };
  return (
    <span class="two-days">
      <input
        type="date"
        aria-label="First day"
        value={days.from}
        onChange={(event) => choose({ from: event.currentTarget.value })}
      />
      <span aria-hidden="true">–</span>
      <input
        type="date"
        aria-label="Last day"
        value={days.to}
        onChange={(event) => choose({ to: event.currentTarget.value })}
      />
    </span>
  );
}

export function CompareSelect() {
  const view = useView();
  return (
    <Select
      label="Compare with"
      value={view.compare}
      options={[
        ['previous', 'vs. days before'],
        ['year', 'vs. a year ago'],
        ['none', 'No comparison'],
      ]}
      onChange={(compare) => view.change({ compare })}
    />
  );
}

const INTERVAL_NAMES = { day: 'Days', week: 'Weeks', month: 'Months' } as const;

/** Whether the chart has a point for each day, week or month; none for ranges that are too short for weeks. */
export function IntervalChoice() {
  const view = useView();
  const { interval, choices } = intervalOf(view);
  if (choices.length < 2) return null;
  return (
    <div class="segments" role="radiogroup" aria-label="Points of the chart">
      {choices.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="interval"
            class="sr-only"
            checked={interval === name}
            onChange={() => view.change({ interval: name }, { replace: true })}
          />
          {INTERVAL_NAMES[name]}
        </label>
      ))}
    </div>
  );
}

export function DeviceSelect() {
  const view = useView();
  return (
    <Select
      label="Device"
      value={view.device}
      options={[
        ['all', 'All devices'],
        ['desktop', 'Desktop'],
        ['mobile', 'Mobile'],
        ['tablet', 'Tablet'],
      ]}
      // The API has countries of all devices together only.
      onChange={(device) => view.change({ device, country: null, offset: null })}
    />
  );
}

/** Shows that only one country is counted, and counts all again. */
export function CountryChip() {
  const view = useView();
  if (view.country === '') return null;
  return (
    <button type="button" class="chip" onClick={() => view.change({ country: null, offset: null })}>
      {countryName(view.country)}
      <Icon name="close" size={12} />
      <span class="sr-only">: show all countries</span>
    </button>
  );
}
