import { useEffect } from 'preact/hooks';
import { type ApiError, useResource } from './api.ts';
import type { Project, ProjectsAnswer } from './types.ts';

interface FoundProject {
  readonly project: Project | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly isUnknown: boolean;
}

/** While a project is filling, its state is asked for again, in milliseconds. */
const POLL = 20_000;

/** The project of a screen, whose title the tab of the browser shows. */
export function useProject(id: string, screen: string): FoundProject {
  const known = useResource<ProjectsAnswer>('/projects');
  const project = known.data?.projects.find((each) => each.id === id);
  const isFilling = project?.syncStatus === 'pending' || project?.historyBackfilling;
  useResource<ProjectsAnswer>(isFilling ? '/projects' : null, { poll: POLL });
  const domain = project?.domain ?? id;
  useEffect(() => {
    document.title = `${screen} · ${domain} · Ordinate`;
  }, [screen, domain]);
  return {
    project,
    error: known.error,
    isLoading: known.data === undefined && known.error === undefined,
    isUnknown: known.data !== undefined && project === undefined,
  };
}
