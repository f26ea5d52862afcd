-- Revokes a key permanently. $id, $workspace, $at: microseconds.
update keys set revoked_at = $at where id = $id and workspace_id = $workspace and revoked_at is null
