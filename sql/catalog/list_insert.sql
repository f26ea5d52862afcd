-- Keeps a list, unless another process was faster.
insert or ignore into lists
  (project_id, kind, first_day, last_day, country, revision, file, rows, bytes, fetched_at, used_at)
values ($project, $kind, $from, $to, $country, $revision, $file, $rows, $bytes, $at, $at)
