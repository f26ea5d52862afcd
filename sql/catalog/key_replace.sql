-- Marks a key as replaced by another; it is valid until $expiresAt (microseconds), or its own end if that is earlier. $id,
-- $by.
update keys set replaced_by = $by, expires_at = case when expires_at < $expiresAt then expires_at else $expiresAt end
where id = $id
