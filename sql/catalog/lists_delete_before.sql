-- Drops the lists of a project that end before a day. $project, $before.
delete from lists where project_id = $project and last_day < $before
