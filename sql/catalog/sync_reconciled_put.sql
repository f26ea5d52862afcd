-- Notes that final days of a project were compared with the provider. $project; $at: microseconds.
update sync_projects set reconciled_at = $at where project_id = $project
