-- From which revision on each fact file is current, so that clients can ask for what changed since; and what it takes to
-- hand out a file that was replaced a moment ago.

-- 0 within the transaction that makes a file current, until the revision of its project is raised.
alter table fact_files add column revision integer not null default 0;
update fact_files set revision = (select facts_revision from projects p where p.id = project_id);
-- The revision from which on all changes of a project's files are known. 0: none is.
alter table projects add column files_since integer not null default 0;
update projects set files_since = facts_revision;

-- Parts that have been without a file since a revision of their project. One that has a file again does not count.
create table removed_parts (
  project_id text not null references projects (id) on delete cascade,
  fact_table text not null,
  part text not null,
  revision integer not null,
  primary key (project_id, fact_table, part)
) strict, without rowid;

-- As the file was in the manifest. Rows of an older version do not say so (revision 0).
alter table retired_files add column last_day text not null default '';
alter table retired_files add column bytes integer not null default 0;
alter table retired_files add column sha256 text not null default '';
alter table retired_files add column revision integer not null default 0;

drop trigger retire_removed_file;
drop trigger retire_replaced_file;
create trigger retire_removed_file after delete on fact_files begin
  insert or replace into retired_files (file, retired_at, last_day, bytes, sha256, revision)
  values (old.file, unixepoch() * 1000000, old.last_day, old.bytes, old.sha256, old.revision);
end;
create trigger retire_replaced_file after update of file on fact_files when old.file <> new.file begin
  insert or replace into retired_files (file, retired_at, last_day, bytes, sha256, revision)
  values (old.file, unixepoch() * 1000000, old.last_day, old.bytes, old.sha256, old.revision);
end;
