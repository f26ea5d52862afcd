-- Stores how the sync of a project stands. Null for $lastSyncedAt leaves it. $id, $syncStatus, $lastSyncedAt,
-- $syncedThrough, $provisionalAfter, $historyBackfilling.
update projects set sync_status = $syncStatus, last_synced_at = coalesce($lastSyncedAt, last_synced_at),
  synced_through = $syncedThrough, provisional_after = $provisionalAfter, history_backfilling = $historyBackfilling
where id = $id
