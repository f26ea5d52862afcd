-- The parts of a project that lost their file after a revision and have none since. $project, $revision.
select fact_table as "table", part from removed_parts r
where project_id = $project and revision > $revision and not exists (
  select 1 from fact_files f where f.project_id = r.project_id and f.fact_table = r.fact_table and f.part = r.part)
order by fact_table, part
