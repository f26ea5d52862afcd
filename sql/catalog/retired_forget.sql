-- Forgets retired files that no request can be reading any more. $before: microseconds.
delete from retired_files where retired_at < $before
