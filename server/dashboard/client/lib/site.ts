import type { Project } from './types.ts';
import { compareParameter, intervalOf, needsProject, rangeParameters, surfaceParameters, type View } from './view.ts';

type Parameters = Readonly<Record<string, string | number | null | undefined>>;

/** What the overview asks `/site` for. Undefined where that depends on a project that is not known yet. */
export function siteParameters(view: View, project: Project | undefined): Parameters | undefined {
  const compare = compareParameter(view, project);
  if (compare === undefined || (project === undefined && needsProject(view))) return undefined;
  const { interval } = intervalOf(view);
  return {
    ...rangeParameters(view, project),
    ...surfaceParameters(view.type),
    device: view.device === 'all' ? null : view.device,
    country: view.country,
    compare,
    interval: interval === 'day' ? null : interval,
    quality: 1,
  };
}
