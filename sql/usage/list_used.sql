-- Records reads of a list. $file; $hits: how many since the last record; $at: microseconds.
insert into list_uses values ($file, $at, $hits)
on conflict (file) do update set
  used_at = case when list_uses.used_at > excluded.used_at then list_uses.used_at else excluded.used_at end,
  hits = list_uses.hits + excluded.hits
