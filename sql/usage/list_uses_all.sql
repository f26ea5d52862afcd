-- The use of every list.
select file, used_at as usedAt, hits from list_uses
