-- The last publication in the catalog. Each publication is also a record in the journal beside the facts
-- (facts/journal). Comparing them shows whether a record was committed, and whether the catalog is older than the facts.
create table publication (
  only integer primary key check (only = 1),
  number integer not null,
  id text not null
) strict;
-- Publications of older versions have no record.
insert into publication select 1, exists (select 1 from fact_files), '';
