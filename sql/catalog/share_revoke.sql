-- Revokes a share. $id; $at: microseconds.
update shares set revoked_at = $at where id = $id and revoked_at is null
