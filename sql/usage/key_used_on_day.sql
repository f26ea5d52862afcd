-- Adds requests of a key on a day. $id, $day; $requests: how many; $at: microseconds, of the last.
insert into key_days values ($id, $day, $requests, $at)
on conflict (id, day) do update set
  requests = key_days.requests + excluded.requests,
  last_at = case when key_days.last_at > excluded.last_at then key_days.last_at else excluded.last_at end
