-- Inserts a row of an entity table, or replaces the row with the same key. A row that equals the stored one is not
-- written and does not count as a change.
insert into {table} ({columns}) values ({values}) on conflict ({key}) do update set {updates} where {differs}
