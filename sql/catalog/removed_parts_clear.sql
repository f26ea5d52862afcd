-- Forgets all parts without a file, for a rebuild.
delete from removed_parts
