-- The least recently used lists. $limit: how many.
select file from list_uses order by used_at limit $limit
