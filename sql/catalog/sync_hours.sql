-- The first hour of a project that may still change. $project.
select hours_until as "until" from sync_projects where project_id = $project
