-- Puts a row of an entity table into the catalog, in place of the one with its key. One that is there already in all of
-- its columns is not written again and does not count as a change.
insert into {table} ({columns}) values ({values}) on conflict ({key}) do update set {updates} where {differs}
