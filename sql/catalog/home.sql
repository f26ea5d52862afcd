-- What members see of all their projects: favourites and tags.

-- name: favourites
-- The projects of a workspace that a member has marked. $workspace, $email.
-- rows: project text
select f.project_id as project
from favourites f join projects p on p.id = f.project_id
where p.workspace_id = $workspace and f.email = $email
order by f.project_id

-- name: add_favourite
-- Marks a project for a member. $project, $email.
insert into favourites (project_id, email) values ($project, $email)
on conflict (project_id, email) do nothing

-- name: remove_favourite
-- Removes the mark of a member. $project, $email.
delete from favourites where project_id = $project and email = $email

-- name: tags
-- The tags of the projects of a workspace. $workspace.
-- rows: project text, tag text
select t.project_id as project, t.tag
from project_tags t join projects p on p.id = t.project_id
where p.workspace_id = $workspace
order by t.tag, t.project_id

-- name: clear_tags
-- Removes the tags of a project. $project.
delete from project_tags where project_id = $project

-- name: add_tag
-- Adds a tag to a project. $project, $tag.
insert into project_tags (project_id, tag) values ($project, $tag)
