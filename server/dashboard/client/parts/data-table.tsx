import type { ComponentChildren } from 'preact';
import { metricOf } from '../lib/changes.ts';
import { formatCount, METRIC_NAMES } from '../lib/format.ts';
import { type Compared, METRICS, type Metric, type MetricValues, type Paging } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Downloads } from './downloads.tsx';
import { Icon } from './icons.tsx';
import { Change, Value } from './numbers.tsx';
import { Skeleton } from './states.tsx';

export const PAGE_SIZE = 50;

/** In the place of metrics that there are none of. */
export const NO_METRICS: RowMetrics = { clicks: null, impressions: null, ctr: null, position: null };

type RowMetrics = MetricValues & Compared;

export interface MetricRow {
  readonly key: string;
  /** The first column. */
  readonly name: ComponentChildren;
  readonly metrics: RowMetrics;
  /** Further cells between the name and the metrics. */
  readonly cells?: readonly ComponentChildren[];
}

interface MetricTableProps {
  readonly label: string;
  /** The heading of the first column, and the field that it is sorted by. */
  readonly nameHeading: string;
  readonly nameField: string | null;
  readonly cellHeadings?: readonly string[];
  /** The fields that they are sorted by, for those that the server sorts. */
  readonly cellFields?: readonly string[];
  readonly metrics?: readonly Metric[];
  /** Undefined before the first answer. */
  readonly rows: readonly MetricRow[] | undefined;
  readonly isStale: boolean;
  readonly defaultSort: string;
  /** Whether the server sorts these rows. */
  readonly isSortable?: boolean;
  /** Whether rows are sorted by how much a metric changed. */
  readonly isByChange?: boolean;
}

/** Rows with the four metrics and how they changed. The server sorts them. */
export function MetricTable({
  label,
  nameHeading,
  nameField,
  cellHeadings = [],
  cellFields,
  metrics: shown = METRICS,
  rows,
  isStale,
  defaultSort,
  isSortable = true,
  isByChange = false,
}: MetricTableProps) {
  if (rows === undefined) return <Skeleton lines={12} height={34} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class={`card table-card ${isStale ? 'is-stale' : ''}`} aria-label={label} tabIndex={0}>
      <table class="metric-table">
        <thead>
          <tr>
            <SortHeading field={isByChange ? null : nameField} name={nameHeading} defaultSort={defaultSort} />
            {cellHeadings.map((heading, index) => (
              <SortHeading
                key={heading}
                field={cellFields?.[index] ?? null}
                name={heading}
                defaultSort={defaultSort}
                isExtra
              />
            ))}
            {shown.map((metric) => (
              <SortHeading
                key={metric}
                field={isSortable ? metric : null}
                name={METRIC_NAMES[metric]}
                defaultSort={defaultSort}
                isNumber
                isByChange={isByChange}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells = [], metrics }) => (
            <tr key={key}>
              <th scope="row" class="name">
                {name}
              </th>
              {cells.map((cell, index) => (
                <td key={cellHeadings[index]} class="extra">
                  {cell}
                </td>
              ))}
              {shown.map((metric) => (
                <MetricCell key={metric} metric={metric} metrics={metrics} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function MetricCell({ metric, metrics }: { metric: Metric; metrics: RowMetrics }) {
  return (
    <td class="number">
      <Value metric={metric} value={metricOf(metric, metrics)} />
      <Change metric={metric} row={metrics} />
    </td>
  );
}

interface SortHeadingProps {
  readonly field: string | null;
  readonly name: string;
  readonly defaultSort: string;
  readonly isNumber?: boolean;
  /** Whether it is that of a further cell. */
  readonly isExtra?: boolean;
  readonly isByChange?: boolean;
}

/** A heading that sorts by its column: first the way that is wanted more often, then the other. */
function SortHeading({
  field,
  name,
  defaultSort,
  isNumber = false,
  isExtra = false,
  isByChange = false,
}: SortHeadingProps) {
  const view = useView();
  const style = isExtra ? 'extra' : isNumber ? 'number' : '';
  if (field === null) {
    return (
      <th scope="col" class={style}>
        {name}
      </th>
    );
  }
  const sort = view.get('sort') || defaultSort;
  if (isByChange) {
    const isCurrent = sort.replace('-', '') === field;
    return (
      <th scope="col" class="number" aria-sort={isCurrent ? 'descending' : undefined}>
        <a class="sort" href={view.with({ sort: `-${field}`, offset: null })} title={`By the change of ${name}`}>
          {name}
          {isCurrent && <span class="by-change">, by change</span>}
          {isCurrent && <Icon name="down" size={12} />}
        </a>
      </th>
    );
  }
  const current = sort === field ? 'ascending' : sort === `-${field}` ? 'descending' : undefined;
  // Small positions and the first letters are what one looks for.
  const first = isNumber && field !== 'position' ? `-${field}` : field;
  const next = sort === first ? (first.startsWith('-') ? field : `-${field}`) : first;
  return (
    <th scope="col" class={style} aria-sort={current}>
      <a class="sort" href={view.with({ sort: next === defaultSort ? null : next, offset: null })}>
        {name}
        {current && <Icon name={current === 'ascending' ? 'up' : 'down'} size={12} />}
      </a>
    </th>
  );
}

/** How long a list is, and all of it as files. */
export function ListHead({ csv, children }: { csv: string; children: ComponentChildren }) {
  return (
    <div class="list-head">
      <span class="muted">{children}</span>
      <Downloads csv={csv} />
    </div>
  );
}

/** Goes through the pages of a list. */
export function Pager({ paging }: { paging: Paging }) {
  const view = useView();
  const { total, offset } = paging;
  if (total <= PAGE_SIZE && offset === 0) return null;
  const last = Math.min(total, offset + PAGE_SIZE);
  const at = (to: number): string => view.with({ offset: String(Math.max(0, to)) });
  return (
    <nav class="pager" aria-label="Pages of the list">
      <span>
        {offset < total
          ? `${formatCount(offset + 1)}–${formatCount(last)} of ${formatCount(total)}`
          : `This page is beyond the end: there are ${formatCount(total)} rows`}
      </span>
      {offset > 0 && (
        <a
          class="button"
          rel="prev"
          href={at(Math.min(offset - PAGE_SIZE, Math.floor((total - 1) / PAGE_SIZE) * PAGE_SIZE))}
        >
          Previous
        </a>
      )}
      {last < total && (
        <a class="button" rel="next" href={at(offset + PAGE_SIZE)}>
          Next
        </a>
      )}
    </nav>
  );
}
