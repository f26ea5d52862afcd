-- The manifest: which files hold the facts, which were replaced, and what loads have contained.

-- part: in_range
-- Files of a table that can have rows in a range.
from fact_files
where project_id = $project and fact_table = $table and (part between $from and $to or part = 'all')
order by part

-- part: file
-- A file of facts.
fact_table as "table", part, file, rows, first_day as firstDay, last_day as lastDay, bytes, sha256

-- name: of_table
-- The current files of a project's fact table that can have rows in a range. $project, $table, $from, $to: YYYY-MM.
-- rows: file text, bytes integer, sha256 text
select file, bytes, sha256 {>in_range}

-- name: manifest
-- The manifest of a project's fact table between two months. $project, $table, $from, $to: YYYY-MM.
-- rows: part text, file text, bytes integer, sha256 text, rows integer, firstDay text, lastDay text
select part, file, bytes, sha256, rows, first_day as firstDay, last_day as lastDay {>in_range}

-- name: of_workspace
-- The current files of a fact table of all projects of a workspace. $workspace, $table.
-- rows: project text, part text, file text, bytes integer, sha256 text, rows integer, firstDay text, lastDay text
select f.project_id as project, f.part, f.file, f.bytes, f.sha256, f.rows, f.first_day as firstDay, f.last_day as lastDay
from projects p join fact_files f on f.project_id = p.id
where p.workspace_id = $workspace and f.fact_table = $table
order by f.project_id, f.part

-- name: all
-- The whole manifest, for the journal and `verify`.
-- rows: project text, table text, part text, file text, rows integer, firstDay text, lastDay text, bytes integer,
--   sha256 text
select project_id as project, {>file} from fact_files order by project_id, fact_table, part

-- name: coverage
-- First and last stored day of each fact table of a project. $project.
-- rows: table text, firstDay text, lastDay text, rows integer
select fact_table as "table", min(first_day) as firstDay, max(last_day) as lastDay, sum(rows) as rows
from fact_files where project_id = $project group by fact_table order by fact_table

-- name: totals
-- Files, rows and bytes of the facts of at most $limit projects that follow project $after, by table. `last` is the last of
-- these projects; without further projects there are no rows.
-- rows: table text, files integer, rows integer, bytes integer, last text
with chosen as (select id from projects where id > $after order by id limit $limit)
select f.fact_table as "table", count(f.file) as files, coalesce(sum(f.rows), 0) as rows,
  coalesce(sum(f.bytes), 0) as bytes, (select max(id) from chosen) as last
from chosen left join fact_files f on f.project_id = chosen.id group by f.fact_table

-- name: by_name
-- A file of a project: current, or replaced since and not removed yet. A former project of the same id had lower
-- revisions. firstDay: null where it is not recorded. $project, $file.
-- rows: file text, bytes integer, sha256 text, firstDay text, isCurrent integer
select file, bytes, sha256, first_day as firstDay, 1 as isCurrent from fact_files
where file = $file and project_id = $project
union all
select r.file, r.bytes, r.sha256, null, 0 from retired_files r join projects p on p.id = $project
where r.file = $file and r.revision > 0 and r.revision >= p.files_since
limit 1

-- name: after_revision
-- The current files of a project that are newer than a revision. $project, $revision.
-- rows: table text, part text, file text, rows integer, firstDay text, lastDay text, bytes integer, sha256 text
select {>file}
from fact_files where project_id = $project and revision > $revision order by fact_table, part

-- name: since
-- Current fact files of publications after a revision. $revision.
-- rows: file text
select file from fact_files where revision > $revision

-- name: newest
-- The current fact files of the last publications. $limit.
-- rows: file text
select file from fact_files order by revision desc, file limit $limit

-- name: smallest
-- The smallest of some current fact files.
-- rows: file text, bytes integer, sha256 text
select file, bytes, sha256 from (select file, bytes, sha256 from fact_files limit 50) as few order by bytes limit 1

-- name: named
-- All files that the catalog names, with size and hash: those of facts, of lists, and replaced ones that may still be read.
-- isNeeded: 0 for those that can do without.
-- rows: file text, bytes integer, sha256 text, isNeeded integer
select file, bytes, sha256, 1 as isNeeded from fact_files
union all select file, bytes, sha256, 0 as isNeeded from lists
union all select file, bytes, sha256, 0 as isNeeded from retired_files where sha256 <> ''

-- name: known
-- Files that are current, or retired and not removed yet.
-- rows: file text
select file from fact_files union select file from retired_files

-- name: is_kept
-- Is this file current, or was it retired so recently that a request may still read it? $file; $before: microseconds.
-- rows: kept integer
select 1 as kept where exists (select 1 from fact_files where file = $file)
  or exists (select 1 from retired_files where file = $file and retired_at >= $before)

-- name: put
-- Makes a file current, of a revision that is not known yet. $project, $table, $part; $file: below the data folder; $rows;
-- $firstDay, $lastDay; $bytes; $sha256: hexadecimal.
insert into fact_files (project_id, fact_table, part, file, rows, first_day, last_day, bytes, sha256, revision)
values ($project, $table, $part, $file, $rows, $firstDay, $lastDay, $bytes, $sha256, 0)
on conflict (project_id, fact_table, part) do update set file = excluded.file, rows = excluded.rows,
  first_day = excluded.first_day, last_day = excluded.last_day, bytes = excluded.bytes, sha256 = excluded.sha256,
  revision = 0

-- name: remove
-- Removes a part without rows from the manifest. $project, $table, $part.
delete from fact_files where project_id = $project and fact_table = $table and part = $part

-- name: clear
-- Empties the manifest, for a rebuild.
delete from fact_files

-- name: retired_due
-- Retired files that no request can still be reading. $before: microseconds.
-- rows: file text
select file from retired_files where retired_at < $before and not exists (select 1 from fact_files f where f.file = retired_files.file)

-- name: keep_retired
-- Removes files that a rebuild made current again from the retired ones.
delete from retired_files where file in (select file from fact_files)

-- name: forget_retired
-- Deletes the records of retired files that no request can still be reading. $before: microseconds.
delete from retired_files where retired_at < $before

-- name: forget_all_retired
-- Forgets retired fact files, which are not part of a backup.
delete from retired_files

-- name: removed_after
-- The parts of a project that lost their file after a revision and have none since. $project, $revision.
-- rows: table text, part text
select fact_table as "table", part from removed_parts r
where project_id = $project and revision > $revision and not exists (
  select 1 from fact_files f where f.project_id = r.project_id and f.fact_table = r.fact_table and f.part = r.part)
order by fact_table, part

-- name: add_removed
-- Notes that a part has no file any more, where it has one. $project, $table, $part.
insert into removed_parts (project_id, fact_table, part, revision)
select project_id, fact_table, part, 0 from fact_files
where project_id = $project and fact_table = $table and part = $part
on conflict (project_id, fact_table, part) do update set revision = excluded.revision

-- name: clear_removed
-- Forgets all parts without a file, for a rebuild.
delete from removed_parts

-- name: loaded_tables
-- All fact tables that loads have contained, by project.
-- rows: project text, table text
select project_id as project, fact_table as "table" from loaded_tables

-- name: is_loaded
-- Has any load contained this fact table of a project? $project, $table.
-- rows: loaded integer
select 1 as loaded from loaded_tables where project_id = $project and fact_table = $table

-- name: add_loaded
-- Records that a load contained a fact table of a project. $project, $table.
insert into loaded_tables (project_id, fact_table) select id, cast($table as text) from projects where id = $project
on conflict do nothing
