-- Puts a row of an entity table into the catalog, in place of the one with its key.
insert into {table} ({columns}) values ({values}) on conflict ({key}) do update set {updates}
