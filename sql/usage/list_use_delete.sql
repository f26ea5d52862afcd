-- Deletes the use of a list. $file.
delete from list_uses where file = $file
