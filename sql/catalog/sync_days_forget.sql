-- Makes all days of a project pending. $project.
delete from sync_days where project_id = $project
