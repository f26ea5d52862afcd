-- The days of a project that came from a bulk export, by table and in order. $project.
select fact_table as "table", from_day as "from", to_day as "to" from bulk_export_days
where project_id = $project order by fact_table, from_day
