-- The file store that this catalog belongs to, so that no process reads or writes another one. `store` and `address` are null
-- until the first process joins both; `catalog` says in the mark of a store which catalog it was joined with.
create table store_identity (
  only integer primary key check (only = 1),
  catalog text not null,
  store text,
  address text
) strict;
insert into store_identity (only, catalog) values (1, lower(hex(randomblob(16))));
