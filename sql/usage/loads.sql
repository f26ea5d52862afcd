-- What loads did.

-- name: counts
-- What loads did, by kind.
-- rows: kind text, published integer, rejected integer, failed integer, rows integer, seconds real, lastAt integer,
--   lastRows integer, lastSeconds real
select kind, published, rejected, failed, rows, seconds, last_at as lastAt, last_rows as lastRows,
  last_seconds as lastSeconds from loads order by kind

-- name: count_published
-- Counts a published load. $kind: `snapshot`, `import` or `sync`; $at: microseconds; $rows; $seconds.
insert into loads (kind, published, rows, seconds, last_at, last_rows, last_seconds)
values ($kind, 1, $rows, $seconds, $at, $rows, $seconds)
on conflict (kind) do update set
  published = loads.published + 1, rows = loads.rows + excluded.rows, seconds = loads.seconds + excluded.seconds,
  last_at = excluded.last_at, last_rows = excluded.last_rows, last_seconds = excluded.last_seconds

-- name: count_other
-- Counts a load that was not published. $kind: as above; $rejected and $failed: 1 for the one that it was, else 0.
insert into loads (kind, rejected, failed) values ($kind, $rejected, $failed)
on conflict (kind) do update set rejected = loads.rejected + excluded.rejected, failed = loads.failed + excluded.failed
