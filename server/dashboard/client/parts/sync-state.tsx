import type { Project } from '../lib/types.ts';

/** The states of a sync, by their names in the API. */
export const SYNC_STATES = {
  ok: { name: 'Synced', about: 'The last sync succeeded' },
  pending: { name: 'Waiting', about: 'The first sync has not finished' },
  warning: { name: 'Delayed', about: 'No sync has succeeded for a while, or a table fails; what is stored stays' },
  failed: { name: 'Failed', about: 'Access was lost, or the credentials cannot be read; what is stored stays' },
} satisfies Record<string, { name: string; about: string }>;

/** How the sync of a project stands. */
export function SyncState({
  project: { syncStatus, historyBackfilling },
}: {
  project: Pick<Project, 'syncStatus' | 'historyBackfilling'>;
}) {
  const state = syncStatus in SYNC_STATES ? (syncStatus as keyof typeof SYNC_STATES) : 'warning';
  const { name, about } = SYNC_STATES[state];
  const isFilling = historyBackfilling && syncStatus !== 'failed';
  return (
    <span class={`pill sync-${isFilling && state === 'ok' ? 'pending' : state}`} title={about}>
      {isFilling ? 'Loading history' : name}
    </span>
  );
}
