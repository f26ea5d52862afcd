-- Replaces the last successful backup. $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes.
insert or replace into last_backup (only, target, started_at, finished_at, files, bytes, copied_bytes)
values (1, $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes)
