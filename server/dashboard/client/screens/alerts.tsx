import { useEffect, useRef } from 'preact/hooks';
import { apiPath, isManager, useResource } from '../lib/api.ts';
import { formatDate, withDates } from '../lib/dates.ts';
import { formatCount, formatMetric, METRIC_NAMES, plural } from '../lib/format.ts';
import type { Alert, AlertsAnswer, Day, Metric, Project } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { useScreenLink, useView } from '../lib/view.ts';
import type { ChartPoint, Level } from '../parts/chart-data.ts';
import { Select } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { ListHead } from '../parts/data-table.tsx';
import { Icon } from '../parts/icons.tsx';
import { lazyScreen } from '../parts/lazy-screen.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { RowLink } from '../parts/row-link.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { TimeChart } from '../parts/time-chart.tsx';

/** The newest ones; the API has no further pages. */
const MAX_ALERTS = 500;

/** Open and resolved alerts, each with the chart that it was made from. */
export function Alerts() {
  const view = useView();
  const status = view.get('status') || 'open';
  const parameters = { status, limit: MAX_ALERTS };
  useAsk(view, (id) => [apiPath(`/projects/${id}/alerts`, parameters)]);
  return (
    <ProjectScreen
      title="Alerts"
      needsData={false}
      controls={(project) => (
        <>
          <Select
            label="State"
            value={status}
            options={[
              ['open', 'Open'],
              ['resolved', 'Resolved'],
              ['all', 'All'],
            ]}
            onChange={(next) => view.change({ status: next === 'open' ? null : next, alert: null })}
          />
          <CopyButton path={`/projects/${project.id}/alerts`} parameters={parameters} />
        </>
      )}
    >
      {(project) => <List project={project} status={status} parameters={parameters} />}
    </ProjectScreen>
  );
}

function List({
  project,
  status,
  parameters,
}: {
  project: Project;
  status: string;
  parameters: Record<string, string | number>;
}) {
  const { data, error, isLoading, reload } = useResource<AlertsAnswer>(
    apiPath(`/projects/${project.id}/alerts`, parameters),
  );
  const alerts = data?.alerts ?? [];
  const wanted = useView().get('alert');
  const isElsewhere = wanted !== '' && alerts.every(({ id }) => id !== wanted);
  return (
    <>
      {error && <ErrorBox error={error} retry={reload} />}
      {data === undefined && !error && <Skeleton lines={5} height={64} />}
      {data && alerts.length === 0 && (
        <Empty title={status === 'open' ? 'Nothing needs attention' : 'There are no such alerts'}>
          <p>
            Every day is checked for drops of traffic, keywords that fell or vanished, and pages that changed places.
          </p>
          {isManager.value && (
            <p>
              <a href={`/app/p/${project.id}/settings`}>Add rules of your own</a>, and{' '}
              <a href="/app/channels">choose who is notified</a>.
            </p>
          )}
        </Empty>
      )}
      {alerts.length > 0 && (
        <>
          <ListHead csv={apiPath(`/projects/${project.id}/alerts.csv`, parameters)}>
            {countText(alerts.length, totalOf(project, status))}
            {isElsewhere && '. The alert of this address is not among them: it is older, or in another state.'}
          </ListHead>
          <ul class={`alerts card ${isLoading ? 'is-stale' : ''}`}>
            {alerts.map((alert) => (
              <AlertItem key={alert.id} alert={alert} project={project} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** How many alerts there are in a state. */
function totalOf({ alerts: { open, resolved } }: Project, status: string): number {
  return status === 'open' ? open : status === 'resolved' ? resolved : open + resolved;
}

function countText(shown: number, total: number): string {
  if (total <= shown) return `${plural(shown, 'alert')}, newest first`;
  return `The newest ${formatCount(shown)} of ${plural(total, 'alert')}`;
}

const HoursAround = lazyScreen(async () => (await import('../parts/hours.tsx')).HoursAround);

function AlertItem({ alert, project }: { alert: Alert; project: Project }) {
  const view = useView();
  const link = useScreenLink();
  const { id, type, severity, kind, title, body, date, keywordId, url, resolvedAt } = alert;
  const isOpen = view.get('alert') === id;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    // The one that the address names may be far down.
    if (isOpen) item.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <li ref={item} class={resolvedAt === null ? '' : 'is-resolved'}>
      <button
        type="button"
        class="alert-head"
        aria-expanded={isOpen}
        onClick={() => view.change({ alert: isOpen ? null : id }, { replace: true })}
      >
        <span class={`pill severity-${severity}`}>{kind}</span>
        <span class="alert-title">{title}</span>
        <span class="muted alert-date">
          {date !== null && formatDate(date)}
          {resolvedAt !== null && ', resolved'}
        </span>
        <Icon name="chevron" />
      </button>
      {isOpen && (
        <div class="alert-body">
          <p>{withDates(body)}</p>
          {type === 'hourly_stop' && date !== null ? (
            <HoursAround date={date} project={project} />
          ) : (
            <AlertFigure alert={alert} project={project} />
          )}
          <p class="alert-links">
            {keywordId !== null && <a href={link(`/app/p/${project.id}/keywords/${keywordId}`)}>Open the keyword</a>}{' '}
            {url !== null && (
              <RowLink project={project} kind="pages" text={url} class="">
                Open the page
              </RowLink>
            )}{' '}
            {date !== null && (
              <a href={link(`/app/p/${project.id}`, { period: null, from: date, to: date })}>Show that day</a>
            )}
          </p>
        </div>
      )}
    </li>
  );
}

interface AlertChart {
  readonly date: Day;
  readonly metric: Metric;
  /** Days of each point, up to its day. */
  readonly window: number;
  readonly points: readonly ChartPoint[];
  readonly levels: readonly Level[];
}

function AlertFigure({ alert, project }: { alert: Alert; project: Project }) {
  const { data, error, reload } = useResource<AlertChart>(`/projects/${project.id}/alerts/${alert.id}/chart`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={1} height={260} />;
  const { metric, window: days, points, levels, date } = data;
  const title =
    days === 1 ? `${METRIC_NAMES[metric]} by day` : `${METRIC_NAMES[metric]} in the ${days} days up to each day`;
  const levelTexts = levels.map(({ name, value }) => `${name}: ${formatMetric(metric, value)}`);
  return (
    <>
      <h2 class="chart-title">{title}</h2>
      <TimeChart
        metric={metric}
        points={points}
        levels={levels}
        markers={[{ from: date, to: date, text: alert.title, kind: 'event' }]}
        eventName="Alert opened"
        height={230}
        label={`${title}, around ${formatDate(date)}. ${levelTexts.join('. ')}`}
      />
    </>
  );
}
