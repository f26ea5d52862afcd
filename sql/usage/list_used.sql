-- Notes that a list was read. $file; $hits: how often since it was last noted; $at: microseconds.
insert into list_uses values ($file, $at, $hits)
on conflict (file) do update set used_at = max(used_at, excluded.used_at), hits = hits + excluded.hits
