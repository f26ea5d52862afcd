-- Deletes a project; what belongs to it goes along, its files are retired. $project.
delete from projects where id = $project
