-- Removes a view. $id.
delete from saved_views where id = $id
