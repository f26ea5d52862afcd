import { useEffect, useMemo } from 'preact/hooks';
import { type ApiError, useResource } from './api.ts';
import type { Project, ProjectAnswer, ProjectSummary } from './types.ts';

interface FoundProject {
  readonly project: Project | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly isUnknown: boolean;
}

/** While a project is filling, its state is requested again, in milliseconds. */
const POLL = 20_000;

/** The path of a project; null for what cannot be the id of one. */
export function projectPath(id: string): string | null {
  return /^[A-Za-z0-9]{5}$/.test(id) ? `/projects/${id}` : null;
}

/** @param path that of a project */
export function summaryPath(path: string): string {
  return `${path}/summary`;
}

/** The project of a screen, whose title the tab of the browser shows. */
export function useProject(id: string, screen: string): FoundProject {
  const path = projectPath(id);
  const found = useResource<ProjectAnswer>(path);
  const summary = useResource<ProjectSummary>(path && summaryPath(path));
  const known = found.data?.project.id === id && !summary.isLoading ? found.data.project : undefined;
  // Made once for each pair of answers, as what is drawn depends on it.
  const project = useMemo(() => known && summary.data && { ...known, ...summary.data }, [known, summary.data]);
  const error = found.error ?? summary.error;
  const isFilling = known?.syncStatus === 'pending' || known?.historyBackfilling;
  useResource<ProjectAnswer>(isFilling ? path : null, { poll: POLL });
  useResource<ProjectSummary>(isFilling && path ? summaryPath(path) : null, { poll: POLL });
  const domain = project?.domain ?? id;
  useEffect(() => {
    document.title = `${screen} · ${domain} · Ordinate`;
  }, [screen, domain]);
  const isUnknown = path === null || error?.status === 404;
  return {
    project: isUnknown ? undefined : project,
    error: isUnknown ? undefined : error,
    isLoading: !isUnknown && project === undefined && error === undefined,
    isUnknown,
  };
}
