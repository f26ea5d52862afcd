-- Retires the file of a list that is about to be stored, so that it is removed later if that fails. $file; $at: microseconds.
insert into retired_lists (file, retired_at) values ($file, $at) on conflict (file) do update set retired_at = excluded.retired_at
