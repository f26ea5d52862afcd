-- The channel of an unsubscribe link. $hash.
select id from channels where token_hash = $hash
