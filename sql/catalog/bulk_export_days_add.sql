-- Records that days of a project's table came from a bulk export. $project, $table; $from, $to: days.
insert into bulk_export_days (project_id, fact_table, from_day, to_day)
select id, cast($table as text), cast($from as text), cast($to as text) from projects where id = $project
