import { useState } from 'preact/hooks';
import { apiPath, useResource } from '../lib/api.ts';
import { metricOf } from '../lib/changes.ts';
import { METRIC_NAMES } from '../lib/format.ts';
import { formatLine, type LineSubject, parseLines, SUBJECT_NAMES } from '../lib/lines.ts';
import {
  type DailyMetrics,
  type Day,
  type GroupsAnswer,
  METRICS,
  type MetricValues,
  type Project,
} from '../lib/types.ts';
import { compareParameter, intervalOf, keywordCompareParameter, rangeParameters, useView } from '../lib/view.ts';
import type { ChartPoint, ExtraLine } from './chart-data.ts';
import { Select } from './controls.tsx';
import { Icon } from './icons.tsx';

/** `GET /app/api/projects/:id/line`. */
interface LineAnswer {
  readonly name: string;
  readonly daily: readonly DailyMetrics[];
  /** The compared days, by the days that they stand beside; null without a comparison. */
  readonly comparison: readonly DailyMetrics[] | null;
}

/** Further lines in a chart: as many as have a colour. */
const MAX_LINES = 4;

/** The metrics that the address adds to the chart. */
function useAlso() {
  const view = useView();
  const given = view.get('also').split(',');
  return METRICS.filter((metric) => metric !== view.metric && given.includes(metric));
}

/** The further lines of a chart that the address names: other metrics of the same days, then other subjects. */
export function useExtraLines(
  project: Project | undefined,
  points: readonly ChartPoint[],
  daily: readonly DailyMetrics[] | undefined,
): readonly ExtraLine[] {
  const view = useView();
  const { metric } = view;
  const { interval } = intervalOf(view);
  const also = useAlso();
  const subjects = project === undefined ? [] : parseLines(view.get('lines')).slice(0, MAX_LINES - also.length);
  // As many hooks as there may be lines.
  const answers = Array.from({ length: MAX_LINES }, (_, index) => {
    const subject = subjects[index];
    const path =
      subject === undefined
        ? null
        : apiPath(`/projects/${project!.id}/line`, {
            ...subject,
            ...rangeParameters(view, project),
            interval: interval === 'day' ? null : interval,
            compare: subject.of === 'group' ? keywordCompareParameter(view, project!) : compareParameter(view, project),
          });
    return useResource<LineAnswer>(path).data;
  });
  const valuesOf = (
    days: readonly (MetricValues & { readonly date: Day })[],
    name: typeof metric,
  ): (number | null)[] => {
    const byDay = new Map(days.map((day) => [day.date, metricOf(name, day)]));
    return points.map(({ date }) => byDay.get(date) ?? null);
  };
  const then = daily?.flatMap(({ date, comparison, unsafe }) =>
    comparison && unsafe?.impressions?.includes('missing_days') !== true ? [{ ...comparison, date }] : [],
  );
  const metrics = also.map(
    (name): ExtraLine => ({
      name: METRIC_NAMES[name],
      metric: name,
      values: valuesOf(daily ?? [], name),
      compared: then && then.length > 0 ? valuesOf(then, name) : undefined,
    }),
  );
  const lines = subjects.flatMap((subject, index) => {
    const answer = answers[index];
    return answer === undefined
      ? []
      : [
          {
            name: nameOf(subject, answer),
            metric,
            values: valuesOf(answer.daily, metric),
            compared: answer.comparison === null ? undefined : valuesOf(answer.comparison, metric),
          },
        ];
  });
  return [...metrics, ...lines];
}

function nameOf({ of, text }: LineSubject, answer?: LineAnswer): string {
  return text === undefined ? SUBJECT_NAMES[of] : (answer?.name ?? text);
}

/** Chooses the further lines of a chart. */
export function ChartLines({ project }: { project: Project | undefined }) {
  const view = useView();
  const also = useAlso();
  const lines = parseLines(view.get('lines'));
  const [isAdding, setAdding] = useState(false);
  const count = also.length + lines.length;
  const put = (next: readonly LineSubject[]): void =>
    view.change({ lines: next.map(formatLine).join('\n') || null }, { replace: true });
  return (
    <div class="chart-lines">
      <span class="muted">Also show</span>
      {METRICS.filter((metric) => metric !== view.metric).map((metric) => {
        const index = also.indexOf(metric as (typeof also)[number]);
        return (
          <button
            key={metric}
            type="button"
            class={`line-toggle ${index < 0 ? '' : `series-${index + 1}`}`}
            aria-pressed={index >= 0}
            disabled={index < 0 && count >= MAX_LINES}
            onClick={() => {
              const next = index < 0 ? [...also, metric] : also.filter((name) => name !== metric);
              view.change({ also: next.join(',') || null }, { replace: true });
            }}
          >
            {METRIC_NAMES[metric]}
          </button>
        );
      })}
      {lines.map((line, index) => (
        <button
          key={formatLine(line)}
          type="button"
          class={`line-toggle series-${also.length + index + 1}`}
          aria-pressed="true"
          title="Remove this line"
          onClick={() => put(lines.filter((_, at) => at !== index))}
        >
          <span dir="auto">{line.text ?? SUBJECT_NAMES[line.of]}</span> <Icon name="close" size={12} />
        </button>
      ))}
      {project && count < MAX_LINES && (
        <button type="button" class="line-toggle" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
          <Icon name="plus" size={12} /> Line
        </button>
      )}
      {project && isAdding && (
        <NewLine
          project={project}
          onAdd={(line) => {
            setAdding(false);
            put([...lines, line]);
          }}
        />
      )}
    </div>
  );
}

function NewLine({ project, onAdd }: { project: Project; onAdd: (line: LineSubject) => void }) {
  const [of, setOf] = useState<LineSubject['of']>('brand');
  const [text, setText] = useState('');
  const groups = useResource<GroupsAnswer>(of === 'group' ? `/projects/${project.id}/groups` : null).data?.groups;
  const isNamed = of !== 'brand' && of !== 'non_brand';
  return (
    <form
      class="new-condition"
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(isNamed ? { of, text: text.trim() } : { of });
      }}
    >
      <Select
        label="Line of"
        value={of}
        options={Object.entries(SUBJECT_NAMES)}
        onChange={(next) => {
          setOf(next as LineSubject['of']);
          setText('');
        }}
      />
      {of === 'group' && (
        <Select
          label="Group"
          value={text}
          options={[['', 'Choose…'], ...(groups ?? []).map(({ id, name }) => [id, name] as const)]}
          onChange={setText}
        />
      )}
      {isNamed && of !== 'group' && (
        <input
          required
          aria-label={of === 'page' ? 'Address of the page' : 'Query'}
          placeholder={of === 'page' ? 'https://…' : 'query'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <button type="submit" class="button" disabled={isNamed && text.trim() === ''}>
        Add
      </button>
    </form>
  );
}
