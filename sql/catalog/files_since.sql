-- The revision from which on all changes of a project's files are known; 0 where none is. $project.
select files_since as since from projects where id = $project
