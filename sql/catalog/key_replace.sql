-- Marks a key as replaced by another; it is valid until $expiresAt (microseconds), or its own end if that is earlier. $id,
-- $by.
update keys set replaced_by = $by, expires_at = min(coalesce(expires_at, $expiresAt), $expiresAt) where id = $id
