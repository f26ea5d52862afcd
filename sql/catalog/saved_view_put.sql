-- Saves a view. $id, $project, $name, $address, $author; $at: microseconds.
insert into saved_views (id, project_id, name, address, author, created_at)
values ($id, $project, $name, $address, $author, $at)
