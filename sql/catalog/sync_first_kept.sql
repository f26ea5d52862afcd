-- The first day of a table among those that were fetched last: a provider that gives all that it keeps has forgotten the days
-- before. $project, $table.
select min(day) as day from sync_days
where project_id = $project and fact_table = $table and fetched_at = (
  select max(fetched_at) from sync_days where project_id = $project and fact_table = $table
)
