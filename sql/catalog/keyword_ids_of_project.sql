-- The ids of a project's keywords, archived ones included. $project.
select id from keywords where project_id = $project
