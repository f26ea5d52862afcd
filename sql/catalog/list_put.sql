-- Stores a list. $file; its key: $project, $kind, $from, $to (days), $country ('' for all), $selection ('' for whole
-- lists), $sourceKey; $source; $rows; $truncated, $capped, $final: 0 or 1; $bytes, $sha256: of the file; $at: microseconds.
insert into lists (file, project_id, kind, first_day, last_day, country, selection, source_key, source, rows, truncated, capped,
  final, bytes, sha256, fetched_at)
values ($file, $project, $kind, $from, $to, $country, $selection, $sourceKey, $source, $rows, $truncated, $capped, $final, $bytes,
  $sha256, $at)
