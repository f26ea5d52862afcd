-- When stored lists were used.

-- name: uses
-- The use of every list.
-- rows: file text, usedAt integer, hits integer
select file, used_at as usedAt, hits from list_uses

-- name: used
-- Records reads of a list. $file; $hits: how many since the last record; $at: microseconds.
insert into list_uses values ($file, $at, $hits)
on conflict (file) do update set
  used_at = case when list_uses.used_at > excluded.used_at then list_uses.used_at else excluded.used_at end,
  hits = list_uses.hits + excluded.hits

-- name: least_used
-- The least recently used list, except one. $keep: the file of that one.
-- rows: file text
select file from list_uses where file <> $keep order by used_at limit 1

-- name: forget_use
-- Deletes the use of a list. $file.
delete from list_uses where file = $file
