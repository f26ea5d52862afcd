-- Lets a limited key read a project. $key, $project.
insert into key_projects (key_id, project_id) values ($key, $project)
