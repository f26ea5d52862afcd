-- Why a table of a project could not be fetched the last time. $project, $table.
select reason from sync_days
where project_id = $project and fact_table = $table and next_try is not null
order by day desc limit 1
