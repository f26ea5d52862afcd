import type { Project } from '../lib/types.ts';

const STATES = {
  ok: { name: 'Synced', about: 'The last sync succeeded' },
  pending: { name: 'Waiting', about: 'The first sync has not finished' },
  warning: { name: 'Delayed', about: 'No sync has succeeded for a while, or a table fails; what is stored stays' },
  failed: { name: 'Failed', about: 'Access was lost, or the credentials cannot be read; what is stored stays' },
} satisfies Record<string, { name: string; about: string }>;

/** How the sync of a project stands. */
export function SyncState({ project: { syncStatus, historyBackfilling } }: { project: Project }) {
  const state = syncStatus in STATES ? (syncStatus as keyof typeof STATES) : 'warning';
  const { name, about } = STATES[state];
  const isFilling = historyBackfilling && syncStatus !== 'failed';
  return (
    <span class={`pill sync-${isFilling && state === 'ok' ? 'pending' : state}`} title={about}>
      {isFilling ? 'Loading history' : name}
    </span>
  );
}
