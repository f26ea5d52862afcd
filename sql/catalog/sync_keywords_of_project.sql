-- The days for which the keywords of a project have been fetched. $project.
select keyword_id as id, query, first_day as "from", last_day as "to" from sync_keywords where project_id = $project
