-- Adds requests of a key on a day. $id, $day; $requests: how many; $at: microseconds, of the last.
insert into key_days values ($id, $day, $requests, $at)
on conflict (id, day) do update set
  requests = requests + excluded.requests, last_at = max(last_at, excluded.last_at)
