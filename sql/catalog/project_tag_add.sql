-- Adds a tag to a project. $project, $tag.
insert into project_tags (project_id, tag) values ($project, $tag)
