-- Every list, the least recently used first.
select file, bytes from lists order by used_at
