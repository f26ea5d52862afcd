-- Every use that is noted.
select file, used_at as usedAt, hits from list_uses
