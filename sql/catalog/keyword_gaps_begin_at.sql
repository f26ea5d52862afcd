-- Forgets unknown days before a day. $project, $before.
update keyword_gaps set first_day = $before where project_id = $project and first_day < $before
