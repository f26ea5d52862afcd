import { useEffect, useMemo } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { type ApiError, remembered, useAskFor, useResource } from './api.ts';
import type { Project, ProjectSummary } from './types.ts';
import { needsProject, type View } from './view.ts';

interface FoundProject {
  readonly project: Project | undefined;
  readonly error: ApiError | undefined;
  readonly isLoading: boolean;
  readonly isUnknown: boolean;
}

/** While a project is filling, its state is requested again, in milliseconds. */
const POLL = 20_000;

/** The path of what all screens of a project show of it; null for what cannot be the id of one. */
export function summaryPath(id: string): string | null {
  return /^[A-Za-z0-9]{5}$/.test(id) ? `/projects/${id}/summary` : null;
}

/** The project of an address, if its answer is remembered. */
function knownProject(id: string): Project | undefined {
  const known = remembered<ProjectSummary>(summaryPath(id));
  return known && { ...known.project, ...known };
}

/**
 * Requests all that a screen shows in one request, when its paths change.
 * @param pathsFor the paths besides that of the project, which is undefined before its first answer; null is left out
 */
export function useAsk(
  view: View,
  pathsFor: (id: string, project: Project | undefined) => readonly (string | null)[],
): void {
  const { project: id = '' } = useRoute().params;
  const project = knownProject(id);
  const own = summaryPath(id);
  // Some ranges end with the last day of the project.
  const isReady = project !== undefined || !needsProject(view);
  useAskFor(own === null ? [] : [own, ...(isReady ? pathsFor(id, project) : [])]);
}

/** The project of a screen, whose title the tab of the browser shows. */
export function useProject(id: string, screen: string): FoundProject {
  const path = summaryPath(id);
  const { data, error } = useResource<ProjectSummary>(path);
  const known = data?.project.id === id ? data : undefined;
  // Made once for each answer, as what is drawn depends on it.
  const project = useMemo(() => known && { ...known.project, ...known }, [known]);
  const isFilling = project?.syncStatus === 'pending' || project?.historyBackfilling;
  useResource<ProjectSummary>(isFilling ? path : null, { poll: POLL });
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
