-- Removes a channel with its deliveries. $id.
delete from channels where id = $id
