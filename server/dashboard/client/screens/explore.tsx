import type { ComponentChildren } from 'preact';
import { apiPath, useResource } from '../lib/api.ts';
import { metricOf } from '../lib/changes.ts';
import { METRIC_NAMES, plural } from '../lib/format.ts';
import {
  askedOf,
  type Dimension,
  dimensionName,
  isTime,
  type Nearest,
  nearestChanges,
  nearestName,
  type QuestionAnswer,
  type QuestionRow,
  questionText,
  remainderText,
  timeName,
  valueName,
  whereOf,
} from '../lib/question.ts';
import { METRICS, type Metric, type MetricValues, type Project } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead, type MetricRow, MetricTable } from '../parts/data-table.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { QuestionBuilder } from '../parts/question-builder.tsx';
import { QuestionChart } from '../parts/question-chart.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { ChipBar } from '../parts/view-chips.tsx';

/** Rows of the table; files have all. */
const SHOWN = 200;

/** Any question: what rows are about, their numbers, filters and order, as a table and a chart. */
export function Explore() {
  const view = useView();
  useAsk(view, (id, project) => {
    const q = questionText(view, project);
    return [q === undefined ? null : apiPath(`/projects/${id}/query`, { q })];
  });
  return (
    <ProjectScreen
      title="Explore"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          <CopyButton
            path={`/projects/${project.id}/query`}
            parameters={{ q: questionText(view, project) }}
            fileParameters={{ q: questionText(view, project, { isLimited: false }) }}
          />
        </>
      )}
    >
      {(project) => (
        <>
          <ChipBar by={['day']} isSliceOnly />
          <QuestionBuilder project={project.id} />
          <Answer project={project} />
        </>
      )}
    </ProjectScreen>
  );
}

function Answer({ project }: { project: Project }) {
  const view = useView();
  const path = `/projects/${project.id}/query`;
  const { data, error, isLoading, reload } = useResource<QuestionAnswer>(
    apiPath(path, { q: questionText(view, project) }),
  );
  const { dimensions, metrics } = askedOf(view);
  const csv = apiPath(`${path}.csv`, { q: questionText(view, project, { isLimited: false }) });
  if (error) {
    const nearest = error.nearest as readonly Nearest[];
    if (nearest.length > 0) return <Refusal message={error.message} nearest={nearest} />;
    return <ErrorBox error={error} retry={error.status === 400 ? undefined : reload} />;
  }
  // The rows of the question before have other columns.
  if (data === undefined || (isLoading && !hasColumns(data, dimensions, metrics)))
    return <Skeleton lines={6} height={34} />;
  if (data.rows.length === 0) {
    return <Empty title="Nothing matches this question in this period" />;
  }
  const metric = metrics.includes(view.metric) ? view.metric : metrics[0]!;
  const shown = data.rows.slice(0, SHOWN);
  const remainder = remainderText(data);
  const hasTime = dimensions.some(isTime);
  return (
    <div class={`answer ${isLoading ? 'is-stale' : ''}`}>
      {hasTime && metrics.length > 1 && (
        <Select
          label="Number of the chart"
          value={metric}
          options={metrics.map((name) => [name, METRIC_NAMES[name]] as const)}
          onChange={(next) => view.change({ metric: next }, { replace: true })}
        />
      )}
      <QuestionChart
        answer={data}
        dimensions={dimensions}
        metric={metric}
        nameOf={(row) =>
          dimensions
            .filter((name) => !isTime(name))
            .map((name) => textOf(row, name, data, project))
            .join(', ')
        }
      />
      <ListHead csv={csv}>
        {plural(data.paging.total, 'row')}
        {shown.length < data.paging.total && `, the first ${shown.length} here`}
      </ListHead>
      <Rows
        answer={data}
        rows={shown}
        dimensions={dimensions}
        metrics={metrics}
        project={project}
        isStale={isLoading}
      />
      {remainder && <p class="muted hint">{remainder}</p>}
    </div>
  );
}

function hasColumns({ rows }: QuestionAnswer, dimensions: readonly Dimension[], metrics: readonly Metric[]): boolean {
  const [row] = rows;
  return row !== undefined && [...dimensions, ...metrics].every((name) => name in row);
}

/** What cannot be answered, and what can. */
function Refusal({ message, nearest }: { message: string; nearest: readonly Nearest[] }) {
  const view = useView();
  return (
    <div class="notice refusal" role="status">
      <div>
        <p>{message.split(' Nearest questions:')[0]} These questions can be answered:</p>
        <p class="refusal-ways">
          {nearest.map((one) => (
            <a key={JSON.stringify(one)} class="button" href={view.with(nearestChanges(one))}>
              {nearestName(one)}
            </a>
          ))}
        </p>
      </div>
    </div>
  );
}

interface RowsProps {
  readonly answer: QuestionAnswer;
  readonly rows: readonly QuestionRow[];
  readonly dimensions: readonly Dimension[];
  readonly metrics: readonly Metric[];
  readonly project: Project;
  readonly isStale: boolean;
}

function Rows({ answer, rows, dimensions, metrics, project, isStale }: RowsProps) {
  const [first, ...others] = dimensions;
  const time = dimensions.find(isTime);
  // Bars measure parts of a whole or counts; averages have none.
  const measure = time === undefined ? metrics.find((name) => name === 'clicks' || name === 'impressions') : undefined;
  const most = Math.max(1, ...rows.map((row) => (measure && row[measure]) ?? 0));
  const cell = (row: QuestionRow, dimension: Dimension): ComponentChildren => (
    <Cell row={row} dimension={dimension} text={textOf(row, dimension, answer, project)} />
  );
  return (
    <MetricTable
      label="Answer"
      nameHeading={first === undefined ? 'All' : dimensionName(first)}
      nameField={first ?? null}
      cellHeadings={others.map(dimensionName)}
      cellFields={others}
      metrics={metrics}
      rows={rows.map((row) => ({
        key: JSON.stringify(dimensions.map((name) => row[name])),
        name: (
          <>
            {measure && first && <span class="bar" style={{ width: `${(100 * (row[measure] ?? 0)) / most}%` }} />}
            <span class="bar-name">{first === undefined ? 'All' : cell(row, first)}</span>
          </>
        ),
        cells: others.map((name) => cell(row, name)),
        metrics: { ...row, ...valuesOf(row) } as MetricRow['metrics'],
      }))}
      isStale={isStale}
      defaultSort={time ?? '-clicks'}
    />
  );
}

function valuesOf(row: QuestionRow): MetricValues {
  const asked = row as MetricValues;
  return Object.fromEntries(METRICS.map((name) => [name, metricOf(name, asked) ?? null])) as unknown as MetricValues;
}

/** What a row is about; a click keeps only such rows. */
function Cell({ row, dimension, text }: { row: QuestionRow; dimension: Dimension; text: string }) {
  const view = useView();
  if (isTime(dimension)) return <>{text}</>;
  const { filters } = askedOf(view);
  const value = row[dimension];
  const sent = typeof value === 'object' ? value.id : value;
  const isChosen = filters.some(([op, of]) => op === 'equals' && of === dimension);
  if (sent === undefined || isChosen) return <span dir="auto">{text}</span>;
  return (
    <a
      class="text"
      dir="auto"
      title="Only these"
      href={view.with({ where: whereOf([...filters, ['equals', dimension, [sent]]]) })}
    >
      {text}
    </a>
  );
}

function textOf(row: QuestionRow, dimension: Dimension, { range }: QuestionAnswer, project: Project): string {
  if (isTime(dimension)) return timeName(dimension, row, range);
  const value = row[dimension];
  if (typeof value === 'object') return value.name;
  if (dimension === 'page') return shortUrl(value ?? '', project.domain);
  return valueName(dimension, value ?? '');
}
