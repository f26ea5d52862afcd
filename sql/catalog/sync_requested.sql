-- When somebody last asked for a sync of a project. $project.
select requested_at as requestedAt from sync_projects where project_id = $project
