-- Forgets keywords that were fetched for no day from a day on. $project, $before.
delete from sync_keywords where project_id = $project and last_day < $before
