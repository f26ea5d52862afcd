-- Deletes a grant, and with it the connections of its projects. $id.
delete from grants where id = $id
