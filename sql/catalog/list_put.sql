-- Keeps a list. $file; its key: $project, $kind, $from, $to (days), $country ('' for all), $basis; $source: gsc or
-- bigquery; $rows; $truncated, $capped, $final: 0 or 1; $bytes of the file; $at: microseconds.
insert into lists (file, project_id, kind, first_day, last_day, country, basis, source, rows, truncated, capped, final,
  bytes, fetched_at, used_at)
values ($file, $project, $kind, $from, $to, $country, $basis, $source, $rows, $truncated, $capped, $final, $bytes,
  $at, $at)
