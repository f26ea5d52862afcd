-- When keys were used.

-- name: uses
-- The last use of every key that was used.
-- rows: id text, usedAt integer
select id, used_at as usedAt from key_uses

-- name: used
-- Stores the last use of a key. $id; $at: microseconds.
insert into key_uses values ($id, $at)
on conflict (id) do update set
  used_at = case when key_uses.used_at > excluded.used_at then key_uses.used_at else excluded.used_at end

-- name: days_since
-- The days on which keys were used. $since: a day.
-- rows: id text, day text, requests integer, lastAt integer
select id, day, requests, last_at as lastAt from key_days where day >= $since order by day desc, id

-- name: used_on_day
-- Adds requests of a key on a day. $id, $day; $requests: how many; $at: microseconds, of the last.
insert into key_days values ($id, $day, $requests, $at)
on conflict (id, day) do update set
  requests = key_days.requests + excluded.requests,
  last_at = case when key_days.last_at > excluded.last_at then key_days.last_at else excluded.last_at end

-- name: forget_days
-- Forgets old days. $before: a day.
delete from key_days where day < $before
