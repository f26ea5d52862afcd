import type { Project } from '../lib/types.ts';

const STATES = {
  ok: { name: 'Synced', about: 'The last sync succeeded' },
  pending: { name: 'Waiting', about: 'The first sync has not finished' },
  warning: { name: 'Delayed', about: 'No sync has succeeded for a while, or a table fails; what is stored stays' },
  failed: { name: 'Failed', about: 'Access was lost, or the credentials cannot be read; what is stored stays' },
} as const;

/** How the sync of a project stands. */
export function SyncState({ project: { syncStatus, historyBackfilling } }: { project: Project }) {
  const { name, about } = STATES[syncStatus];
  const isFilling = historyBackfilling && syncStatus !== 'failed';
  return (
    <span class={`pill sync-${isFilling && syncStatus === 'ok' ? 'pending' : syncStatus}`} title={about}>
      {isFilling ? 'Loading history' : name}
    </span>
  );
}
