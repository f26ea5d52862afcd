-- Makes a project due for the sync. $project.
update sync_projects set next_run_at = null where project_id = $project
