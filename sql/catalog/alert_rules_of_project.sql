-- The alert rules of a project, or of all. $project: may be null.
select id, project_id as project, name, rule, severity, enabled from alert_rules
where cast($project as text) is null or project_id = $project order by project_id, name, id
