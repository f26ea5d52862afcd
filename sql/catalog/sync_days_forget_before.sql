-- Forgets the days of a project before a day. $project, $before.
delete from sync_days where project_id = $project and day < $before
