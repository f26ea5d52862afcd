import { useEffect, useRef, useState } from 'preact/hooks';
import {
  addDays,
  CALENDAR_PERIODS,
  comparedRange,
  countDays,
  formatDate,
  isDay,
  MAX_DAYS,
  yesterday,
} from '../lib/dates.ts';
import type { Day, Project, Range } from '../lib/types.ts';
import { movedRange, rangeOf, useView } from '../lib/view.ts';
import { Select } from './controls.tsx';
import { Icon } from './icons.tsx';

const PERIODS = [
  ['7d', 'Last 7 days'],
  ['28d', 'Last 28 days'],
  ['90d', 'Last 90 days'],
  ...Object.entries(CALENDAR_PERIODS).map(([period, { name }]) => [period, name] as const),
  ['3m', 'Last 3 months'],
  ['6m', 'Last 6 months'],
  ['12m', 'Last 12 months'],
  ['16m', 'Last 16 months'],
] as const;

/** The range of days: one of the usual periods or any two days, and the ones before and after. */
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
    <span class="period">
      <Move by={-1} project={project} />
      <Select
        label="Period"
        value={view.period ?? 'custom'}
        options={[...options, ['custom', 'Custom days…'] as const]}
        onChange={choose}
      />
      <Move by={1} project={project} />
      {isCustom && (
        <TwoDays
          range={{ from: view.from!, to: view.to! }}
          names={['First day', 'Last day']}
          last={project?.syncedThrough ?? yesterday()}
          onChoose={({ from, to }) => view.change({ from, to, period: null, offset: null }, { replace: true })}
        />
      )}
    </span>
  );
}

function Move({ by, project }: { by: 1 | -1; project: Project | undefined }) {
  const view = useView();
  const range = movedRange(view, project, by);
  const name = by < 0 ? 'Previous period' : 'Next period';
  return (
    <button
      type="button"
      class="icon-button move"
      title={name}
      aria-label={name}
      disabled={range === undefined}
      onClick={() => range && view.change({ ...range, period: null, offset: null })}
    >
      <Icon name={by < 0 ? 'left' : 'right'} size={14} />
    </button>
  );
}

export function CompareSelect({ project }: { project?: Project }) {
  const view = useView();
  const { compare, comparedDays } = view;
  const choose = (next: string): void => {
    const { from, to } = comparedRange(rangeOf(view, project), compare === 'year' ? 'year' : 'previous');
    const isCustom = next === 'custom';
    view.change({ compare: next, cfrom: isCustom ? from : null, cto: isCustom ? to : null });
  };
  return (
    <>
      <Select
        label="Compare with"
        value={compare}
        options={[
          ['previous', 'vs. previous period'],
          ['year', 'vs. a year earlier'],
          ['custom', 'vs. custom days…'],
          ['none', 'No comparison'],
        ]}
        onChange={choose}
      />
      {comparedDays && (
        <TwoDays
          range={comparedDays}
          names={['First compared day', 'Last compared day']}
          last={project?.syncedThrough ?? yesterday()}
          onChoose={({ from, to }) => view.change({ compare: 'custom', cfrom: from, cto: to }, { replace: true })}
        />
      )}
    </>
  );
}

interface TwoDaysProps {
  readonly range: Range;
  readonly names: readonly [first: string, last: string];
  /** The last day that can be chosen. */
  readonly last: Day;
  readonly onChoose: (range: Range) => void;
}

/** Typing pauses this long before a day counts, in milliseconds: a year passes through other years as it is typed. */
const PAUSE = 700;

/** Two days. What is typed counts after a pause, or when the field is left, and only if it is right. */
function TwoDays({ range: { from, to }, names, last, onChoose }: TwoDaysProps) {
  const [draft, setDraft] = useState({ from, to });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const chosen = useRef('');
  useEffect(() => {
    // What was chosen here is not put into the fields again: the other one may be being typed in.
    if (chosen.current !== `${from} ${to}`) setDraft({ from, to });
  }, [from, to]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const problem = problemOf(draft, last);
  const put = (next: Range): void => {
    clearTimeout(timer.current);
    if (problemOf(next, last) !== undefined || (next.from === from && next.to === to)) return;
    chosen.current = `${next.from} ${next.to}`;
    onChoose(next);
  };
  const type = (changed: Partial<Range>): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => put(next), PAUSE);
  };
  return (
    <span class="two-days">
      {(['from', 'to'] as const).map((end, index) => (
        <input
          key={end}
          type="date"
          aria-label={names[index]}
          aria-invalid={problem !== undefined}
          max={last}
          value={draft[end]}
          onInput={(event) => type({ [end]: event.currentTarget.value })}
          onBlur={() => put(draft)}
        />
      ))}
      {problem && (
        <span class="problem" role="status">
          {problem}
        </span>
      )}
    </span>
  );
}

/** What keeps two days from being a range, in a few words. */
function problemOf({ from, to }: Range, last: Day): string | undefined {
  if (!isDay(from) || !isDay(to)) return 'Complete both days';
  if (to > last) return `Data ends on ${formatDate(last)}`;
  if (from > to) return 'The first day is after the last one';
  if (countDays({ from, to }) > MAX_DAYS)
    return `At most ${MAX_DAYS} days: from ${formatDate(addDays(to, 1 - MAX_DAYS))}`;
  return undefined;
}
