import type { SyncProgress } from '../server/sync/run-options.ts';

const WIDTH = 20;

/** Returns the progress text of a sync: a bar, windows, requests, rows and the estimated time left. */
export function progressBar(now: () => number = Date.now): (progress: SyncProgress) => string {
  const started = now();
  return ({ windows, allWindows, requests, allRequests, rows }) => {
    const share = allRequests === 0 ? 1 : Math.min(1, requests / allRequests);
    const full = Math.round(WIDTH * share);
    const bar = `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}]`;
    const seconds = (now() - started) / 1000;
    const left = share > 0 ? `, ${timeLeft((seconds / share) * (1 - share))} left` : '';
    const counts = `windows ${windows}/${allWindows}, requests ${requests}/${Math.max(requests, allRequests)}`;
    return `${bar} ${counts}, ${rows.toLocaleString('en')} rows${left}`;
  };
}

function timeLeft(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
}
