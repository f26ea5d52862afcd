-- Replaces the last successful backup. $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes.
insert into last_backup ("only", target, started_at, finished_at, files, bytes, copied_bytes)
values (1, $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes)
on conflict ("only") do update set target = excluded.target, started_at = excluded.started_at,
  finished_at = excluded.finished_at, files = excluded.files, bytes = excluded.bytes, copied_bytes = excluded.copied_bytes
