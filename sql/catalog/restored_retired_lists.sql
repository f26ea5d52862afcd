-- Forgets the files of retired lists.
delete from retired_lists
