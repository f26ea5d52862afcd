-- As bulk_export_days.sql, of all projects, for the journal.
select project_id as project, fact_table as "table", from_day as "from", to_day as "to" from bulk_export_days
order by project_id, fact_table, from_day
