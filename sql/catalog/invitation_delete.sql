-- Removes an invitation. $id.
delete from invitations where id = $id
