-- One counter for the revisions of all projects: a number is never given twice, so that what was kept of a project
-- that was removed cannot be taken for one of the same id that is made later.

create table revision (
  only integer primary key check (only = 1),
  value integer not null
) strict;
insert into revision select 1, coalesce(max(revision), 0) from projects;
