import { intervalOf, useView } from '../lib/view.ts';
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
