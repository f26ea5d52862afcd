-- Connects a project to another grant of an account. $project, $grant; $at: microseconds.
update connections set grant_id = $grant, changed_at = $at
where project_id = $project and kind = 'search-console' and grant_id is not null
