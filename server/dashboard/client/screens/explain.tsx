import { type ComponentChildren, Fragment } from 'preact';
import { apiPath, useResource } from '../lib/api.ts';
import { formatDate, formatRange, formatSpan } from '../lib/dates.ts';
import { EXPLAIN_BY, type ExplainBy, notAttributedText, PARTS, signed, unsafeText } from '../lib/explain.ts';
import { countryName, DEVICE_NAMES, formatCount, formatMetric, plural } from '../lib/format.ts';
import type { ExplainAnswer, ExplainedRow, Project, RankingUpdate } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import {
  compareParameter,
  hasQueries,
  rangeParameters,
  surfaceParameters,
  useScreenLink,
  useView,
  type View,
} from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead } from '../parts/data-table.tsx';
import { NumberHeading } from '../parts/numbers.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';
import { ChipBar } from '../parts/view-chips.tsx';
import { Waterfall } from '../parts/waterfall.tsx';

/** Rows that are shown at first and when more are wanted, and those of files. */
const [FEW, MANY, MOST] = [20, 200, 1000];

/** Why clicks changed: the parts of the change, and the rows that it comes from. */
export function Explain() {
  const view = useView();
  const by = byOf(view);
  const hasCountry = by === 'page' || by === 'query';
  const parametersFor = (project: Project | undefined) => ({
    ...rangeParameters(view, project),
    ...surfaceParameters(view.type),
    compare: compareParameter(view, project),
    by: by === 'page' ? null : by,
    country: hasCountry ? view.country : null,
    limit: view.get('rows') === 'more' ? MANY : FEW,
  });
  useAsk(view, (id, project) => {
    const parameters = parametersFor(project);
    return [parameters.compare === undefined ? null : apiPath(`/projects/${id}/explain`, parameters)];
  });
  return (
    <ProjectScreen
      title="Explain"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          <Select
            label="Rows"
            value={by}
            options={choicesOf(view)}
            onChange={(chosen) => view.change({ by: chosen === 'page' ? null : chosen, rows: null })}
          />
          <CopyButton path={`/projects/${project.id}/explain`} parameters={parametersFor(project)} />
        </>
      )}
    >
      {(project) => (
        <>
          <ChipBar by={hasCountry ? ['day', 'country', 'type'] : ['day', 'type']} />
          <Explanation
            project={project}
            path={apiPath(`/projects/${project.id}/explain`, parametersFor(project))}
            csv={apiPath(`/projects/${project.id}/explain.csv`, { ...parametersFor(project), limit: MOST })}
          />
        </>
      )}
    </ProjectScreen>
  );
}

function byOf(view: View): ExplainBy {
  return choicesOf(view).find(([name]) => name === view.get('by'))?.[0] ?? 'page';
}

/** The rows that the view's search type has. */
function choicesOf(view: View): typeof EXPLAIN_BY {
  if (view.type === 'web') return EXPLAIN_BY;
  const has: Partial<Record<ExplainBy, boolean>> = {
    page: true,
    query: hasQueries(view),
    device: view.type !== 'discover',
    country: true,
  };
  return EXPLAIN_BY.filter(([name]) => has[name] === true);
}

function Explanation({ project, path, csv }: { project: Project; path: string; csv: string }) {
  const { data, error, isLoading, reload } = useResource<ExplainAnswer>(path);
  if (error && data === undefined) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={2} height={240} />;
  return (
    <div class={`explain ${isLoading ? 'is-stale' : ''}`}>
      {error && <ErrorBox error={error} retry={reload} />}
      <Change answer={data} />
      <div>
        <ListHead csv={csv}>{plural(data.rows.length + data.rest.rows, 'row')} with a change</ListHead>
        <Rows answer={data} project={project} />
      </div>
    </div>
  );
}

/** The change in words, and its parts one after the other. */
function Change({ answer }: { answer: ExplainAnswer }) {
  const { change, usual, range, unsafe, by, parts, notes } = answer;
  const { now, base, difference } = change.clicks;
  const isUsual = usual !== null && difference >= usual.low && difference <= usual.high;
  return (
    <section class="card breakdown">
      <h2>
        {signed(difference)} clicks: {formatCount(base)} before, {formatCount(now)} now
      </h2>
      <p class="muted hint">
        {formatRange(range)} against {formatRange(range.comparison!)}.{' '}
        {usual !== null &&
          `Nine of ten such changes of the past year were between ${signed(usual.low)} and ${signed(usual.high)}: this one is ${isUsual ? 'usual' : 'not usual'}.`}
      </p>
      <Waterfall answer={answer} />
      {parts.notAttributed !== 0 && <p class="muted hint">{notAttributedText(by, parts.notAttributed!)}</p>}
      {unsafe.length > 0 && (
        <ul class="hint">
          {unsafe.map(({ what, reason }) => (
            <li key={what + reason}>{unsafeText(what, reason)}</li>
          ))}
        </ul>
      )}
      <Rankings answer={answer} />
      {notes.length > 0 && (
        <p class="muted hint">Notes on these days: {notes.map(({ text }) => text.replace(/\.$/, '')).join('; ')}</p>
      )}
    </section>
  );
}

/** Ranking updates of both ranges, and from which day on they are unknown. */
function Rankings({
  answer: { range, rankingUpdates: updates, rankingUpdatesThrough: through },
}: {
  answer: ExplainAnswer;
}) {
  const isCut = through !== null && through < range.to;
  if (updates.length === 0 && !isCut) return null;
  return (
    <p class="muted hint rankings">
      {updates.length > 0 && 'Ranking updates on these days: '}
      {(updates as readonly RankingUpdate[]).map(({ title, from, to, source }, at) => (
        <Fragment key={title}>
          {at > 0 && '; '}
          <a href={source} rel="noreferrer" target="_blank">
            {title}
          </a>
          , {formatSpan({ from, to })}
        </Fragment>
      ))}
      {updates.length > 0 && '. '}
      {isCut && `Ranking updates after ${formatDate(through)} are not known.`}
    </p>
  );
}

function Rows({ answer, project }: { answer: ExplainAnswer; project: Project }) {
  const view = useView();
  const { rows, rest, by, parts, change } = answer;
  const name = EXPLAIN_BY.find(([key]) => key === by)![1];
  const shown = PARTS.filter(([part]) => part !== 'notAttributed' && (parts[part] ?? null) !== null);
  const listed = rows.reduce((sum, row) => sum + row.clicks.difference, rest.clicks.difference);
  const cells = (of: ExplainedRow['parts']): ComponentChildren =>
    shown.map(([part]) => (
      <td key={part} class="number">
        {signed(of[part] ?? 0)}
      </td>
    ));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="card table-card" aria-label="Rows that changed most" tabIndex={0}>
      <table class="metric-table">
        <thead>
          <tr>
            <th scope="col">{name}</th>
            <NumberHeading>Clicks</NumberHeading>
            <NumberHeading>Change</NumberHeading>
            {shown.map(([part, text, help]) => (
              <th key={part} scope="col" class="number" title={help}>
                {text}
              </th>
            ))}
            <NumberHeading>Position</NumberHeading>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row" class="name">
                <RowName row={row} project={project} />
              </th>
              <td class="number">
                {formatCount(row.clicks.base)} → {formatCount(row.clicks.now)}
              </td>
              <td class="number">
                <strong>{signed(row.clicks.difference)}</strong>
              </td>
              {cells(row.parts)}
              <td class="number">
                {formatMetric('position', row.position.base)} → {formatMetric('position', row.position.now)}
              </td>
            </tr>
          ))}
          {rest.rows > 0 && (
            <tr>
              <th scope="row" class="name">
                <a href={view.with({ rows: 'more' })}>{plural(rest.rows, 'other row')}</a>
              </th>
              <td class="number">
                {formatCount(rest.clicks.base)} → {formatCount(rest.clicks.now)}
              </td>
              <td class="number">
                <strong>{signed(rest.clicks.difference)}</strong>
              </td>
              {cells(rest.parts)}
              <td />
            </tr>
          )}
          <tr>
            <th scope="row" class="name">
              Not in any row
            </th>
            <td />
            <td class="number">
              <strong>{signed(change.clicks.difference - listed)}</strong>
            </td>
            {shown.map(([part]) => (
              <td key={part} />
            ))}
            <td />
          </tr>
        </tbody>
      </table>
    </section>
  );
}

function keyOf({ page, query, keyword, device, country, segment }: ExplainedRow): string {
  return page ?? query ?? keyword?.id ?? device ?? country ?? segment ?? '';
}

function RowName({ row, project }: { row: ExplainedRow; project: Project }) {
  const link = useScreenLink();
  const { page, query, keyword, device, country, segment } = row;
  const root = `/app/p/${project.id}`;
  if (page !== undefined) {
    return (
      <RowLink project={project} kind="pages" text={page} class="text">
        {shortUrl(page, project.domain)}
      </RowLink>
    );
  }
  if (query !== undefined || keyword !== undefined) {
    const text = query ?? keyword!.query;
    return (
      <RowLink project={project} kind="queries" text={text} keywordId={keyword?.id} class="text">
        {text}
      </RowLink>
    );
  }
  if (device !== undefined) return <a href={link(root, { device })}>{DEVICE_NAMES[device] ?? device}</a>;
  if (country !== undefined) {
    return country === 'other' ? (
      <span>{countryName(country)}</span>
    ) : (
      <a href={link(root, { country })}>{countryName(country)}</a>
    );
  }
  const isBrand = segment === 'brand';
  return <a href={link(`${root}/queries`, { branded: isBrand ? 'yes' : 'no' })}>{isBrand ? 'Brand' : 'Not brand'}</a>;
}
