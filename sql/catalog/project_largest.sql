-- The project with data that has most tracked keywords, but not more than $most.
select id, workspace_id as workspace from projects
where synced_through is not null and tracked_keywords between 1 and $most
order by tracked_keywords desc, id limit 1
