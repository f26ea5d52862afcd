-- Revokes a feed permanently. $id, $at: microseconds.
update feeds set revoked_at = $at where id = $id and revoked_at is null
