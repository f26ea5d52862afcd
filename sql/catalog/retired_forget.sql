-- Deletes the records of retired files that no request can still be reading. $before: microseconds.
delete from retired_files where retired_at < $before
