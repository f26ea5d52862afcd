-- Deletes a project and everything that belongs to it; its files are retired. $project.
delete from projects where id = $project
