-- Records reads of a list. $file; $hits: how many since the last record; $at: microseconds.
insert into list_uses values ($file, $at, $hits)
on conflict (file) do update set used_at = max(used_at, excluded.used_at), hits = hits + excluded.hits
