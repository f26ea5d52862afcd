import { isOtherEngine } from '../../../model/surfaces.ts';
import { apiPath, useResource } from '../lib/api.ts';
import { formatCount } from '../lib/format.ts';
import { useMissingDays } from '../lib/missing-days.ts';
import { siteParameters } from '../lib/site.ts';
import type { AlertsAnswer, NotesAnswer, Project, SiteAnswer } from '../lib/types.ts';
import { useAsk } from '../lib/use-project.ts';
import { hasQueries, useScreenLink, useView, type View } from '../lib/view.ts';
import { DeviceSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { AddFilter } from '../parts/filter-bar.tsx';
import { lazyScreen } from '../parts/lazy-screen.tsx';
import { Performance } from '../parts/performance.tsx';
import { CompareSelect, PeriodSelect } from '../parts/period.tsx';
import { ProjectScreen } from '../parts/project-screen.tsx';
import { Skeleton } from '../parts/states.tsx';
import { Surfaces, surfacesPath } from '../parts/surfaces.tsx';
import { TopRows, topRowsPath } from '../parts/top-rows.tsx';
import { ChipBar, ConditionChips, TYPE_NAMES } from '../parts/view-chips.tsx';

/** How the whole site does: four metrics, one of them over the days of the range. */
export function Overview() {
  const view = useView();
  useAsk(view, (id, project) => {
    const site = siteParameters(view, project);
    const kinds = hasQueries(view) ? (['queries', 'pages'] as const) : (['pages'] as const);
    const lists = kinds.map((kind) => topRowsPath(id, { kind, view, project }));
    const surfaces = surfacesPath(id, view, project);
    const asked = site === undefined ? null : sitePath(id, site);
    return [asked, alertsPath(id), allAlertsPath(id), notesPath(id), ...lists, surfaces];
  });
  return (
    <ProjectScreen
      title="Overview"
      controls={(project) => (
        <>
          <PeriodSelect project={project} />
          <CompareSelect project={project} />
          {!isOtherEngine(view.type) && <DeviceSelect />}
          <a class="button" href={`/app/p/${project.id}/report`}>
            Report
          </a>
          <CopyButton path={`/projects/${project.id}/site`} parameters={siteParameters(view, project)!} />
        </>
      )}
    >
      {(project) => (
        <>
          <ChipBar by={['day', 'country', 'device', 'type']} isSliceOnly />
          <AlertStrip project={project} />
          <div class="overview">
            <SitePerformance project={project} />
            <div class="top-lists">
              <div class="filter-bar">
                <AddFilter fields={['query', 'url']} />
                <ConditionChips by={['query', 'url']} />
              </div>
              <div class="columns">
                {hasQueries(view) && <TopRows project={project} kind="queries" />}
                <TopRows project={project} kind="pages" />
              </div>
            </div>
            <Surfaces project={project} />
            {isWholeProperty(view) && <NewestHours project={project} />}
          </div>
        </>
      )}
    </ProjectScreen>
  );
}

const NewestHours = lazyScreen(async () => (await import('../parts/hours.tsx')).NewestHours, null);

/** Hours have no parts. */
function isWholeProperty({ type, device, country }: View): boolean {
  return type === 'web' && device === 'all' && country === '';
}

function sitePath(id: string, parameters: NonNullable<ReturnType<typeof siteParameters>>): string {
  return apiPath(`/projects/${id}/site`, parameters);
}

function alertsPath(id: string): string {
  return `/projects/${id}/alerts?status=open&limit=20`;
}

/** Those of the chart, which also has resolved ones. */
function allAlertsPath(id: string): string {
  return `/projects/${id}/alerts?status=all&limit=200`;
}

function notesPath(id: string): string {
  return `/projects/${id}/notes`;
}

function SitePerformance({ project }: { project: Project }) {
  const view = useView();
  const { data, ...state } = useResource<SiteAnswer>(sitePath(project.id, siteParameters(view, project)!));
  const notes = useResource<NotesAnswer>(notesPath(project.id));
  const isWeb = view.type === 'web';
  const missing = useMissingDays(project.id, 'site_daily', isWeb ? data?.quality : undefined);
  const alerts = useResource<AlertsAnswer>(allAlertsPath(project.id)).data?.alerts;
  return (
    <Performance
      // More lines and explanations are of web search.
      project={isWeb ? project : undefined}
      name={isWeb ? project.domain : `${project.domain} (${TYPE_NAMES[view.type]})`}
      answer={data}
      state={state}
      notes={notes.data?.notes}
      alerts={isWeb ? alerts : []}
      missing={missing}
    />
  );
}

/** The open alerts, the newest first. */
function AlertStrip({ project }: { project: Project }) {
  const link = useScreenLink();
  const { data } = useResource<AlertsAnswer>(alertsPath(project.id));
  if (project.alerts.open === 0) return null;
  if (data === undefined) {
    return (
      <div class="alert-strip card" aria-hidden="true">
        <Skeleton lines={Math.min(2, project.alerts.open)} height={24} />
      </div>
    );
  }
  const { alerts } = data;
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
      {project.alerts.open > shown.length && (
        <a class="more" href={link(`/app/p/${project.id}/alerts`)}>
          {formatCount(project.alerts.open - shown.length)} more
        </a>
      )}
    </section>
  );
}
