import { useMemo } from 'preact/hooks';
import { apiPath, useResource } from '../lib/api.ts';
import { formatRange } from '../lib/dates.ts';
import { formatMetric, METRIC_NAMES } from '../lib/format.ts';
import type { AlertsAnswer, NotesAnswer, Project, SiteAnswer } from '../lib/types.ts';
import { rangeParameters, rangesOf, useScreenLink, useView } from '../lib/view.ts';
import { CompareSelect, CountryChip, DeviceSelect, PeriodSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { markersOf, type ProviderEventsAnswer } from '../parts/markers.ts';
import { MetricTiles } from '../parts/metric-tiles.tsx';
import { missingDays, pointsOf } from '../parts/points.ts';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { TimeChart } from '../parts/time-chart.tsx';
import { TopRows } from '../parts/top-rows.tsx';

/** How the whole site does: four metrics, one of them over the days of the range. */
export function Overview() {
  const view = useView();
  const { device, country } = view;
  return (
    <ProjectScreen
      title="Overview"
      controls={(project) => (
        <>
          <CountryChip />
          <PeriodSelect project={project} />
          <CompareSelect />
          <DeviceSelect />
          <CopyButton
            path={`/projects/${project.id}/site`}
            parameters={{ ...rangeParameters(view), device: device === 'all' ? null : device, country }}
          />
        </>
      )}
    >
      {(project) => (
        <>
          <AlertStrip project={project} />
          <Performance project={project} />
          <div class="columns">
            <TopRows project={project} kind="queries" />
            <TopRows project={project} kind="pages" />
          </div>
        </>
      )}
    </ProjectScreen>
  );
}

function Performance({ project }: { project: Project }) {
  const view = useView();
  const { metric } = view;
  const device = view.device === 'all' ? null : view.device;
  const { range, compared } = rangesOf(view, project);
  const path = `/projects/${project.id}/site`;
  const site = useResource<SiteAnswer>(apiPath(path, { ...rangeParameters(view), device, country: view.country }));
  const before = useResource<SiteAnswer>(compared && apiPath(path, { ...compared, device, country: view.country }));
  const notes = useResource<NotesAnswer>(apiPath(`/projects/${project.id}/notes`, { from: range.from, to: range.to }));
  const { data } = site;
  const then = compared === null ? undefined : before.data;
  const points = useMemo(() => pointsOf(data, metric), [data, metric]);
  const comparedPoints = useMemo(() => then && pointsOf(then, metric), [then, metric]);
  const events = useResource<ProviderEventsAnswer>('/provider-events');
  const markers = useMemo(
    () =>
      markersOf(notes.data?.notes ?? [], events.data?.events ?? [], {
        range: data?.range,
        metric,
        device: view.device,
      }),
    [notes.data, events.data, data, metric, view.device],
  );
  const totals = data?.totals;
  return (
    <section class={`card performance ${site.isLoading && data ? 'is-stale' : ''}`} aria-label="Performance">
      <MetricTiles totals={totals} comparison={then?.totals} unsafe={missingDays(data, then)} />
      <div class="performance-chart">
        {site.error && <ErrorBox error={site.error} retry={site.reload} />}
        {data === undefined && site.error === undefined && <Skeleton lines={1} height={310} />}
        {data && (
          <TimeChart
            metric={metric}
            points={points}
            compared={comparedPoints}
            provisionalAfter={data.range.provisionalAfter}
            markers={markers}
            label={`${METRIC_NAMES[metric]} of ${project.domain} by day, ${formatRange(data.range)}: ${formatMetric(metric, data.totals[metric])} in all${then ? `, compared with ${formatMetric(metric, then.totals[metric])} in ${formatRange(then.range)}` : ''}.`}
          />
        )}
        {data && (
          <p class="muted range-line">
            {formatRange(data.range)}
            {compared && ` compared with ${formatRange(compared)}, weekday by weekday`}
          </p>
        )}
      </div>
    </section>
  );
}

/** The open alerts, the newest first. */
function AlertStrip({ project }: { project: Project }) {
  const link = useScreenLink();
  const { data } = useResource<AlertsAnswer>(`/projects/${project.id}/alerts?status=open&limit=50`);
  const alerts = data?.alerts ?? [];
  if (alerts.length === 0) return null;
  const order = ['critical', 'warning', 'info'];
  const shown = alerts.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)).slice(0, 2);
  return (
    <section class="alert-strip card" aria-label="Open alerts">
      <ul>
        {shown.map(({ id, severity, kind, title }) => (
          <li key={id}>
            <span class={`pill severity-${severity}`}>{kind}</span>
            <a href={link(`/app/p/${project.id}/alerts`, { alert: id })}>{title}</a>
          </li>
        ))}
      </ul>
      {alerts.length > shown.length && (
        <a class="more" href={link(`/app/p/${project.id}/alerts`)}>
          {alerts.length - shown.length} more
        </a>
      )}
    </section>
  );
}
