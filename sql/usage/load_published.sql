-- Counts a published load. $kind: see `create_loads`; $at: microseconds; $rows; $seconds.
insert into loads (kind, published, rows, seconds, last_at, last_rows, last_seconds)
values ($kind, 1, $rows, $seconds, $at, $rows, $seconds)
on conflict (kind) do update set
  published = loads.published + 1, rows = loads.rows + excluded.rows, seconds = loads.seconds + excluded.seconds,
  last_at = excluded.last_at, last_rows = excluded.last_rows, last_seconds = excluded.last_seconds
