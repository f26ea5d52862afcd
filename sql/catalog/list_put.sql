-- Keeps a list in place of the one with its key. $at: microseconds.
insert into lists (file, project_id, kind, first_day, last_day, country, basis, source, rows, truncated, capped, final,
  bytes, fetched_at, used_at)
values ($file, $project, $kind, $from, $to, $country, $basis, $source, $rows, $truncated, $capped, $final, $bytes,
  $at, $at)
