-- One counter for the revisions of all projects. A number is never reused, so that cached data of a removed project
-- cannot be served for a later project with the same id.

create table revision (
  only integer primary key check (only = 1),
  value integer not null
) strict;
insert into revision select 1, coalesce(max(revision), 0) from projects;
