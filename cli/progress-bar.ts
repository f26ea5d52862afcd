import type { SyncProgress } from '../server/sync/run-options.ts';

const WIDTH = 20;

/** The progress text of a sync of projects; each function returns it after a change. */
export interface ProgressBar {
  running(progress: SyncProgress): string;
  waiting(project: string, why: string): string;
  ended(project: string): string;
}

/**
 * Returns the progress bar of a sync: windows, requests, rows and the estimated time left, over all projects, and which of
 * them wait.
 */
export function progressBar(projects: readonly string[], now: () => number = Date.now): ProgressBar {
  const started = now();
  const states = new Map<string, SyncProgress>();
  const waits = new Map<string, string>();
  let done = 0;
  const text = (): string => {
    const name = projects.length === 1 ? projects[0] : `${done} of ${projects.length} projects`;
    const bar = states.size === 0 ? [] : [barOf([...states.values()], projects.length, (now() - started) / 1000)];
    return [[name, ...bar].join(' '), ...[...waits].map(([id, why]) => `${id} is ${why}`)].join('; ');
  };
  return {
    running: (state) => {
      states.set(state.project, state);
      waits.delete(state.project);
      return text();
    },
    waiting: (id, why) => {
      waits.set(id, why);
      return text();
    },
    ended: (id) => {
      done++;
      waits.delete(id);
      return text();
    },
  };
}

/** Projects that have not started are expected to take as much as the others. */
function barOf(states: readonly SyncProgress[], projects: number, seconds: number): string {
  const sum = (of: 'windows' | 'allWindows' | 'requests' | 'allRequests' | 'rows'): number =>
    states.reduce((all, state) => all + state[of], 0);
  const requests = sum('requests');
  const allRequests = Math.round((sum('allRequests') * projects) / states.length);
  const allWindows = Math.round((sum('allWindows') * projects) / states.length);
  const share = allRequests === 0 ? 1 : Math.min(1, requests / allRequests);
  const full = Math.round(WIDTH * share);
  const bar = `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}]`;
  const left = share > 0 ? `, ${timeLeft((seconds / share) * (1 - share))} left` : '';
  const counts = `windows ${sum('windows')}/${allWindows}, requests ${requests}/${Math.max(requests, allRequests)}`;
  return `${bar} ${counts}, ${sum('rows').toLocaleString('en')} rows${left}`;
}

function timeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
