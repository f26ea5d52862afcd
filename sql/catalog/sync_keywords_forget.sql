-- Forgets for which days the keywords of a project have been fetched. $project.
delete from sync_keywords where project_id = $project
