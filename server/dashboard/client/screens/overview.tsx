import { useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { apiPath, ask, useResource } from '../lib/api.ts';
import { formatRange } from '../lib/dates.ts';
import { formatMetric, METRIC_NAMES } from '../lib/format.ts';
import { siteParameters } from '../lib/site.ts';
import type { AlertsAnswer, NotesAnswer, Project, SiteAnswer } from '../lib/types.ts';
import { projectPath } from '../lib/use-project.ts';
import { intervalOf, rangeOf, useScreenLink, useView } from '../lib/view.ts';
import { Caveats } from '../parts/caveats.tsx';
import { CompareSelect, CountryChip, DeviceSelect, IntervalChoice, PeriodSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { markersOf } from '../parts/markers.ts';
import { MetricTiles } from '../parts/metric-tiles.tsx';
import { comparedPointsOf, pointsOf } from '../parts/points.ts';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { RangeLine } from '../parts/range-line.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { TimeChart } from '../parts/time-chart.tsx';
import { TopRows, topRowsPath } from '../parts/top-rows.tsx';

/** How the whole site does: four metrics, one of them over the days of the range. */
export function Overview() {
  const view = useView();
  const { project: id = '' } = useRoute().params;
  // Nothing of this depends on the project: it need not wait for it.
  if (projectPath(id) !== null) {
    const early = siteParameters(view, undefined);
    ask([
      ...(early === undefined ? [] : [sitePath(id, early)]),
      alertsPath(id),
      topRowsPath(id, 'queries', view),
      topRowsPath(id, 'pages', view),
    ]);
  }
  return (
    <ProjectScreen
      title="Overview"
      controls={(project) => (
        <>
          <CountryChip />
          <PeriodSelect project={project} />
          <CompareSelect />
          <DeviceSelect />
          <CopyButton path={`/projects/${project.id}/site`} parameters={siteParameters(view, project)!} />
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

function sitePath(id: string, parameters: NonNullable<ReturnType<typeof siteParameters>>): string {
  return apiPath(`/projects/${id}/site`, parameters);
}

function alertsPath(id: string): string {
  return `/projects/${id}/alerts?status=open&limit=50`;
}

function Performance({ project }: { project: Project }) {
  const view = useView();
  const { metric, device } = view;
  const { interval } = intervalOf(view);
  const asked = rangeOf(view, project);
  const { data, error, isLoading, reload } = useResource<SiteAnswer>(
    sitePath(project.id, siteParameters(view, project)!),
  );
  const notes = useResource<NotesAnswer>(apiPath(`/projects/${project.id}/notes`, { from: asked.from, to: asked.to }));
  // Drawn as it was requested, also while the answer for another interval is awaited.
  const drawn = useMemo(() => interval, [data]);
  const points = useMemo(() => pointsOf(data, metric, drawn), [data, metric]);
  const compared = useMemo(() => comparedPointsOf(data, metric, drawn), [data, metric]);
  const markers = useMemo(
    () => markersOf(notes.data?.notes ?? [], data?.quality?.events ?? [], { range: data?.range, metric, device }),
    [notes.data, data, metric, device],
  );
  return (
    <section class={`card performance ${isLoading && data ? 'is-stale' : ''}`} aria-label="Performance">
      <MetricTiles totals={data?.totals} />
      <div class="performance-chart">
        {error && <ErrorBox error={error} retry={reload} />}
        {data === undefined && error === undefined && <Skeleton lines={1} height={340} />}
        {data && (
          <>
            <div class="chart-head">
              <RangeLine range={data.range} />
              <IntervalChoice />
            </div>
            <TimeChart metric={metric} points={points} compared={compared} markers={markers} label={describe(data)} />
            <Caveats answer={data} />
          </>
        )}
      </div>
    </section>
  );

  function describe({ range, totals }: SiteAnswer): string {
    const of = `${METRIC_NAMES[metric]} of ${project.domain} by ${drawn}, ${formatRange(range)}`;
    const before =
      range.comparison && totals.comparison
        ? `, compared with ${formatMetric(metric, totals.comparison[metric])} in ${formatRange(range.comparison)}`
        : '';
    return `${of}: ${formatMetric(metric, totals[metric])} in all${before}.`;
  }
}

/** The open alerts, the newest first. */
function AlertStrip({ project }: { project: Project }) {
  const link = useScreenLink();
  const { data } = useResource<AlertsAnswer>(alertsPath(project.id));
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
