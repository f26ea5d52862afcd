-- Connects a project to another grant. $project, $grant; $at: microseconds.
update connections set grant_id = $grant, changed_at = $at where project_id = $project and grant_id is not null
