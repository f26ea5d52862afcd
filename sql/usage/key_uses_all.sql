-- The last use of every key that was used.
select id, used_at as usedAt from key_uses
