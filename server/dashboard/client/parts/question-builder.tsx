import { formatCount, METRIC_NAMES } from '../lib/format.ts';
import { askedOf, type Dimension, isTime, LIMITS, SUBJECTS, TIME_NAMES, TIMES, whereOf } from '../lib/question.ts';
import { METRICS } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Select } from './controls.tsx';
import { QuestionFilters } from './question-filters.tsx';

/** Chooses the parts of the question, each of which the address has. */
export function QuestionBuilder({ project }: { project: string }) {
  const view = useView();
  const { dimensions, metrics, filters, limit } = askedOf(view);
  const subjects = dimensions.filter((name) => !isTime(name));
  const time = dimensions.find(isTime);
  const putDimensions = (next: readonly Dimension[]): void => view.change({ by: next.join(',') || 'all', sort: null });
  return (
    <section class="card question" aria-label="Question">
      <Toggles
        label="Rows for each"
        options={SUBJECTS}
        chosen={subjects}
        onChange={(next) => putDimensions([...(time ? [time] : []), ...next])}
      />
      <Toggles
        label="Numbers"
        options={METRICS.map((name) => [name, METRIC_NAMES[name]] as const)}
        chosen={metrics}
        onChange={(next) =>
          view.change({ metrics: next.length === 0 || next.length === METRICS.length ? null : next.join(',') })
        }
      />
      <div class="filter-bar">
        <Select
          label="Over time"
          value={time ?? ''}
          options={[
            ['', 'All days together'],
            ...TIMES.map((name) => [name, `By ${TIME_NAMES[name].toLowerCase()}`] as const),
          ]}
          onChange={(next) => putDimensions([...(isTime(next) ? [next] : []), ...subjects])}
        />
        <Select
          label="Rows at most"
          value={String(limit)}
          options={LIMITS.map((count) => [String(count), `Up to ${formatCount(count)} rows`] as const)}
          onChange={(rows) => view.change({ rows })}
        />
        <QuestionFilters
          project={project}
          filters={filters}
          onChange={(next) => view.change({ where: whereOf(next) })}
        />
      </div>
    </section>
  );
}

interface TogglesProps<Name extends string> {
  readonly label: string;
  readonly options: readonly (readonly [name: Name, text: string])[];
  readonly chosen: readonly string[];
  /** Gets the names in the order in which they were chosen. */
  readonly onChange: (chosen: readonly Name[]) => void;
}

function Toggles<Name extends string>({ label, options, chosen, onChange }: TogglesProps<Name>) {
  const put = (name: Name, isOn: boolean): void => {
    const names = chosen.filter((one) => one !== name) as Name[];
    onChange(isOn ? [...names, name] : names);
  };
  return (
    <fieldset class="toggles">
      <legend>{label}</legend>
      {options.map(([name, text]) => (
        <label key={name} class={`chip ${chosen.includes(name) ? '' : 'is-idle'}`}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) => put(name, event.currentTarget.checked)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}
