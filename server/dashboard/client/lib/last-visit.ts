import { session } from './api.ts';
import { ifStored } from './storage.ts';

/** A visit has ended when nothing was opened for so long, in milliseconds. */
const PAUSE = 30 * 60_000;

interface Visits {
  /** When the last visit ended, and when something was last opened; milliseconds. */
  readonly ended: number | null;
  readonly seen: number;
}

/** When this person's last visit ended, on this browser; null at the first one. Counts this one as going on. */
export function lastVisit(): Date | null {
  const stored = `ordinate.visits.${session.value?.workspace.id} ${session.value?.email ?? ''}`;
  const now = Date.now();
  const known = read(stored);
  const ended = known === undefined ? null : now - known.seen > PAUSE ? known.seen : known.ended;
  ifStored(() => localStorage.setItem(stored, JSON.stringify({ ended, seen: now } satisfies Visits)));
  return ended === null ? null : new Date(ended);
}

function read(key: string): Visits | undefined {
  const found = ifStored(() => JSON.parse(localStorage.getItem(key) ?? 'null') as Visits | null);
  return typeof found?.seen === 'number' ? found : undefined;
}
