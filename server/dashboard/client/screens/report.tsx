import { useEffect } from 'preact/hooks';
import { describeLengths } from '../../../domain/unsafe-texts.ts';
import { apiPath, useResource } from '../lib/api.ts';
import { addDays, comparedRange, countDays, formatDate, formatMonthOfYear, formatRange } from '../lib/dates.ts';
import { formatCount } from '../lib/format.ts';
import { useMissingDays } from '../lib/missing-days.ts';
import { siteParameters } from '../lib/site.ts';
import type { AlertsAnswer, Day, ListAnswer, NotesAnswer, Project, Range, SiteAnswer } from '../lib/types.ts';
import { compareParameter, rangeOf, useView } from '../lib/view.ts';
import { Select } from '../parts/controls.tsx';
import { MetricTable } from '../parts/data-table.tsx';
import { Performance } from '../parts/performance.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { shortUrl } from '../parts/top-rows.tsx';

/** Months to choose from: as many as the search engine has. */
const MONTHS = 16;
/** Rows of each table. */
const ROWS = 10;

/** A month on a few pages of paper: how the site did, what won and lost, and what happened. */
export function Report() {
  const view = useView();
  return (
    <ProjectScreen
      title="Month report"
      isViewed={false}
      controls={(project) => (
        <>
          <Select
            label="Month"
            value={view.from ?? ''}
            options={monthsOf(project).map((month) => [month, formatMonthOfYear(month)] as const)}
            onChange={(month) => view.change(changesTo(month))}
          />
          <button type="button" class="button button-main" onClick={() => print()}>
            Print or save as PDF
          </button>
        </>
      )}
    >
      {(project) => <Body project={project} />}
    </ProjectScreen>
  );
}

/** First days of months, the newest whole one first. */
function monthsOf({ finalThrough, syncedThrough }: Project): Day[] {
  const last = finalThrough ?? syncedThrough!;
  let month = `${addDays(last, 1).slice(0, 7)}-01`;
  return Array.from({ length: MONTHS }, () => (month = `${addDays(month, -1).slice(0, 7)}-01`));
}

function monthRange(month: Day): Range {
  return { from: month, to: addDays(`${addDays(month, 31).slice(0, 7)}-01`, -1) };
}

/** A month, compared with the month before. */
function changesTo(month: Day): Record<string, string | null> {
  return { period: null, ...monthRange(month), compare: 'previous', cfrom: null, cto: null };
}

function Body({ project }: { project: Project }) {
  const view = useView();
  const months = monthsOf(project);
  const isMonth = view.from !== null && view.to === monthRange(view.from).to && view.from.endsWith('-01');
  useEffect(() => {
    if (!isMonth) view.change(changesTo(months[0]!), { replace: true });
  }, [isMonth]);
  const range = rangeOf(view, project);
  const before = comparedRange(range, 'previous');
  if (!isMonth) return <Skeleton lines={3} height={200} />;
  return (
    <div class="report">
      <p class="report-head">
        <strong>{project.domain}</strong>, {formatRange(range)}, compared with {formatRange(before)}
        {describeLengths(countDays(range), countDays(before))}
      </p>
      <Site project={project} />
      <div class="columns">
        <Movers project={project} kind="queries" change="up" title="Queries that won most clicks" />
        <Movers project={project} kind="queries" change="down" title="Queries that lost most clicks" />
        <Movers project={project} kind="pages" change="up" title="Pages that won most clicks" />
        <Movers project={project} kind="pages" change="down" title="Pages that lost most clicks" />
      </div>
      <Happened project={project} />
    </div>
  );
}

function Site({ project }: { project: Project }) {
  const view = useView();
  const parameters = siteParameters(view, project)!;
  const { data, ...state } = useResource<SiteAnswer>(apiPath(`/projects/${project.id}/site`, parameters));
  const missing = useMissingDays(project.id, 'site_daily', data?.quality);
  return <Performance name={project.domain} answer={data} state={state} notes={undefined} missing={missing} />;
}

interface MoversProps {
  readonly project: Project;
  readonly kind: 'queries' | 'pages';
  readonly change: 'up' | 'down';
  readonly title: string;
}

function Movers({ project, kind, change, title }: MoversProps) {
  const view = useView();
  const { data, error, isLoading, reload } = useResource<ListAnswer>(
    apiPath(`/projects/${project.id}/movers`, {
      ...rangeOf(view, project),
      compare: compareParameter(view, project),
      kind,
      change,
      limit: ROWS,
    }),
  );
  const rows = [
    ...(data?.queries ?? []).map((row) => ({ key: row.query, name: <bdi>{row.query}</bdi>, metrics: row })),
    ...(data?.pages ?? []).map((row) => ({
      key: row.url,
      name: <bdi>{shortUrl(row.url, project.domain)}</bdi>,
      metrics: row,
    })),
  ];
  return (
    <div>
      <h2 class="section">{title}</h2>
      {error && <ErrorBox error={error} retry={reload} />}
      {data && rows.length === 0 && <p class="muted">None in this month.</p>}
      {(rows.length > 0 || (data === undefined && !error)) && (
        <MetricTable
          label={title}
          nameHeading={kind === 'queries' ? 'Query' : 'Page'}
          nameField={null}
          rows={data && rows}
          isStale={isLoading}
          isSortable={false}
          defaultSort="-clicks"
        />
      )}
      {data && data.paging.total > rows.length && (
        <p class="muted">
          The first {ROWS} of {formatCount(data.paging.total)}
        </p>
      )}
    </div>
  );
}

/** Alerts that opened in the month, and notes about it. */
function Happened({ project }: { project: Project }) {
  const { from, to } = rangeOf(useView(), project);
  const root = `/projects/${project.id}`;
  const alerts = useResource<AlertsAnswer>(apiPath(`${root}/alerts`, { status: 'all', since: from, limit: 500 }));
  const notes = useResource<NotesAnswer>(apiPath(`${root}/notes`, { from, to }));
  const opened = alerts.data?.alerts.filter(({ date }) => date !== null && date >= from && date <= to);
  return (
    <section aria-label="What happened">
      <h2 class="section">What happened</h2>
      {opened?.length === 0 && notes.data?.notes.length === 0 && <p class="muted">No alerts and no notes.</p>}
      <ul class="report-list">
        {notes.data?.notes.map(({ id, date, text }) => (
          <li key={id} dir="auto">
            <span class="muted">{formatDate(date)}</span> {text}
          </li>
        ))}
        {opened?.map(({ id, date, title, resolvedAt }) => (
          <li key={id} dir="auto">
            <span class="muted">{formatDate(date!)}</span> Alert: {title}
            {resolvedAt !== null && ' (resolved)'}
          </li>
        ))}
      </ul>
    </section>
  );
}
