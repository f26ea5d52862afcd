import { useEffect } from 'preact/hooks';
import { apiPath, session, useResource } from '../lib/api.ts';
import { formatAgo, formatDate } from '../lib/dates.ts';
import { formatMetric, METRIC_NAMES, plural } from '../lib/format.ts';
import { METRICS, type Project, type ProjectsAnswer, type SiteAnswer } from '../lib/types.ts';
import { compareParameter, rangeOf, rangeParameters, useScreenLink, useView } from '../lib/view.ts';
import { CompareSelect, PeriodSelect } from '../parts/controls.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Change, Value } from '../parts/numbers.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { Command, Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { SyncState } from '../parts/sync-state.tsx';

/** All projects of the workspace, with how each of them does. */
export function Projects() {
  useEffect(() => {
    document.title = 'Projects · Ordinate';
  }, []);
  const { data, error, isLoading, reload } = useResource<ProjectsAnswer>('/projects');
  const projects = data?.projects ?? [];
  return (
    <>
      <PageHead title="Projects" subtitle={data && plural(projects.length, 'project')}>
        <PeriodSelect project={projects[0]} />
        <CompareSelect />
        <CopyButton path="/projects" />
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {isLoading && <Skeleton lines={3} height={132} />}
      {data && projects.length === 0 && <NoProjects />}
      <ul class="project-list">
        {projects.map((project) => (
          <ProjectCard key={project.id} project={project} />
        ))}
      </ul>
    </>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const view = useView();
  const link = useScreenLink();
  const path = `/projects/${project.id}/site`;
  const compare = compareParameter(view, project);
  const { data, error, isLoading } = useResource<SiteAnswer>(apiPath(path, { ...rangeParameters(view), compare }));
  const range = data?.range ?? rangeOf(view, project);
  const { totals, daily = [] } = data ?? {};
  return (
    <li class={`card project-card ${isLoading ? 'is-stale' : ''}`}>
      <div class="project-name">
        <h2>
          <a href={link(`/app/p/${project.id}`)}>{project.domain}</a>
        </h2>
        <SyncState project={project} />
      </div>
      {error ? (
        <ErrorBox error={error} />
      ) : (
        <>
          <Sparkline
            values={daily.map(({ clicks }) => clicks)}
            width={260}
            height={56}
            label={`Clicks of ${project.domain} by day from ${range.from} to ${range.to}: ${formatMetric('clicks', totals?.clicks)} in all`}
          />
          <dl class="project-numbers">
            {METRICS.map((metric) => (
              <div key={metric}>
                <dt>{METRIC_NAMES[metric]}</dt>
                <dd>
                  <Value metric={metric} value={totals?.[metric]} />
                  {totals && <Change metric={metric} row={totals} />}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <p class="muted project-freshness">
        {project.syncedThrough === null ? 'No day is synced yet' : `Data through ${formatDate(project.syncedThrough)}`}
        {project.lastSyncedAt !== null && `, updated ${formatAgo(project.lastSyncedAt)}`}
      </p>
    </li>
  );
}

function NoProjects() {
  const workspace = session.value?.workspace.id ?? 'WORKSPACE';
  return (
    <Empty title="No projects yet">
      <p>Connect a property of Search Console; it fills itself with 16 months of data:</p>
      <Command>{`ordinate projects create --workspace ${workspace} --property sc-domain:acme.example --credentials google.json --sync`}</Command>
      <p>Or load your own files:</p>
      <Command>ordinate load ./snapshot</Command>
    </Empty>
  );
}
