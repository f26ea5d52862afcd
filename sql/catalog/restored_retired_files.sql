-- Forgets retired fact files, which are not part of a backup.
delete from retired_files
