-- Removes the tags of a project. $project.
delete from project_tags where project_id = $project
