-- Stores how many unarchived keywords a project has. $id.
update projects set tracked_keywords = (select count(*) from keywords where project_id = $id and archived = 0)
where id = $id
