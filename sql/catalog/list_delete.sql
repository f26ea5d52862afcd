-- Drops a list. $file.
delete from lists where file = $file
