import { useEffect } from 'preact/hooks';
import { type ApiError, useResource } from './api.ts';
import type { Project, ProjectAnswer } from './types.ts';

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

/** The project of a screen, whose title the tab of the browser shows. */
export function useProject(id: string, screen: string): FoundProject {
  const path = projectPath(id);
  const { data, error } = useResource<ProjectAnswer>(path);
  const project = data?.project.id === id ? data.project : undefined;
  const isFilling = project?.syncStatus === 'pending' || project?.historyBackfilling;
  useResource<ProjectAnswer>(isFilling ? path : null, { poll: POLL });
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
