-- The last publication that the catalog holds. Each is also a record of the journal beside the facts (facts/journal),
-- so that it can be told whether a record was committed, and whether the catalog is older than the facts.
create table publication (
  only integer primary key check (only = 1),
  number integer not null,
  id text not null
) strict;
-- What an older version published is in no record.
insert into publication select 1, exists (select 1 from fact_files), '';
