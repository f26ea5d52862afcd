-- Forgets all stored lists, whose files are not part of a backup.
delete from lists
