-- Keywords have been fetched for no day before a day. $project, $before.
update sync_keywords set first_day = $before where project_id = $project and first_day < $before
