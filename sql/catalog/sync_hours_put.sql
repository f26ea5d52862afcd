-- Stores the first hour of a project that may still change. $project; $until: microseconds.
update sync_projects set hours_until = $until
where project_id = $project and (hours_until is null or hours_until <> $until)
