-- Notes that a part has no file any more, where it has one. $project, $table, $part.
insert into removed_parts (project_id, fact_table, part, revision)
select project_id, fact_table, part, 0 from fact_files
where project_id = $project and fact_table = $table and part = $part
on conflict (project_id, fact_table, part) do update set revision = excluded.revision
