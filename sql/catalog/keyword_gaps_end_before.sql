-- Forgets unknown days that all lie before a day. $project, $before.
delete from keyword_gaps where project_id = $project and last_day < $before
