-- How many active feeds a key has. $keyId.
select count(*) as count from feeds where key_id = $keyId and revoked_at is null
