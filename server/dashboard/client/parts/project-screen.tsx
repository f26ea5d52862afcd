import type { ComponentChildren } from 'preact';
import { useRoute } from 'preact-iso/router';
import { formatAgo, formatDate } from '../lib/dates.ts';
import { shownHost } from '../lib/hosts.ts';
import type { Project } from '../lib/types.ts';
import { useProject } from '../lib/use-project.ts';
import { PageHead } from './page-head.tsx';
import { SavedViews } from './saved-views.tsx';
import { Command, Empty, ErrorBox, Missing, Skeleton } from './states.tsx';
import { SyncState } from './sync-state.tsx';

interface ProjectScreenProps {
  readonly title: string;
  /** What the view can be changed with. */
  readonly controls: (project: Project) => ComponentChildren;
  readonly children: (project: Project) => ComponentChildren;
  /** Whether what is shown can be saved as a view. */
  readonly isViewed?: boolean;
  /** Whether the screen has something to show before the first day is synced. */
  readonly needsData?: boolean;
}

/** A screen of one project: its title, how fresh it is, and what stands in the way of showing it. */
export function ProjectScreen({ title, controls, children, isViewed = true, needsData = true }: ProjectScreenProps) {
  const { project: id = '' } = useRoute().params;
  const { project, error, isLoading, isUnknown } = useProject(id, title);
  if (isUnknown) return <Missing />;
  const isEmpty = project !== undefined && project.syncedThrough === null;
  return (
    <>
      <PageHead title={title} subtitle={project && <Freshness project={project} />}>
        {project && !(isEmpty && needsData) && (
          <>
            {controls(project)}
            {isViewed && <SavedViews />}
          </>
        )}
      </PageHead>
      {error && <ErrorBox error={error} />}
      {isLoading && <Skeleton lines={2} height={200} />}
      {project?.syncStatus === 'failed' && (
        <div class="notice notice-error" role="alert">
          <div>
            <p>This project cannot be synced: access to the property was lost, or its credentials cannot be read.</p>
            <p>
              What is stored stays. <a href="/app/connect">Connect it again</a>, or see what{' '}
              <code>ordinate connections test --project {project.id}</code> says.
            </p>
          </div>
        </div>
      )}
      {isEmpty && needsData ? <NoData project={project} /> : project && children(project)}
    </>
  );
}

/** How far the data of a project goes, and when it came. */
function Freshness({ project }: { project: Project }) {
  const { domain, syncedThrough, lastSyncedAt } = project;
  return (
    <span class="freshness">
      {shownHost(domain)} <SyncState project={project} />{' '}
      {syncedThrough !== null && (
        <span>
          Data through {formatDate(syncedThrough)}
          {lastSyncedAt !== null && `, updated ${formatAgo(lastSyncedAt)}`}
        </span>
      )}
    </span>
  );
}

/** Why a project has no days yet, and how it gets some. */
export function NoData({ project, isSyncShown = false }: { project: Project; isSyncShown?: boolean }) {
  if (project.syncStatus === 'pending' || project.historyBackfilling) {
    return (
      <Empty title="The first days are on their way">
        <p>
          The newest 28 days come first, then 16 months, month by month. This page shows them as soon as they are in.
        </p>
        {!isSyncShown && (
          <p>
            <a href={`/app/p/${project.id}/data`}>Watch the sync</a>
          </p>
        )}
      </Empty>
    );
  }
  return (
    <Empty title="No data yet">
      <p>
        <a href="/app/connect">Connect it to Search Console</a>, or load files into it:
      </p>
      <Command>ordinate load ./snapshot</Command>
    </Empty>
  );
}
