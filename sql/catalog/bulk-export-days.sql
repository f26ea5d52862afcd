-- Days that came from a bulk export.

-- name: of_project
-- The days of a project that came from a bulk export, by table and in order. $project.
-- rows: table text, from text, to text
select fact_table as "table", from_day as "from", to_day as "to" from bulk_export_days
where project_id = $project order by fact_table, from_day

-- name: of_workspace
-- The days of a table that came from a bulk export, of all projects of a workspace. $workspace, $table.
-- rows: project text, table text, from text, to text
select d.project_id as project, d.fact_table as "table", d.from_day as "from", d.to_day as "to"
from projects p join bulk_export_days d on d.project_id = p.id
where p.workspace_id = $workspace and d.fact_table = $table
order by d.project_id, d.from_day

-- name: all
-- As `of_project`, of all projects, for the journal.
-- rows: project text, table text, from text, to text
select project_id as project, fact_table as "table", from_day as "from", to_day as "to" from bulk_export_days
order by project_id, fact_table, from_day

-- name: add
-- Records that days of a project's table came from a bulk export. $project, $table; $from, $to: days.
insert into bulk_export_days (project_id, fact_table, from_day, to_day)
select id, cast($table as text), cast($from as text), cast($to as text) from projects where id = $project

-- name: clear
-- Forgets which days of a project's table came from a bulk export. $project, $table.
delete from bulk_export_days where project_id = $project and fact_table = $table
