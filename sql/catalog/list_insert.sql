-- Keeps a list, unless another process was faster. $project; $kind: pages or queries; $from, $to: days; $country: ''
-- for all; $revision; $file: below the data folder; $rows; $bytes; $at: microseconds.
insert or ignore into lists
  (project_id, kind, first_day, last_day, country, revision, file, rows, bytes, fetched_at, used_at)
values ($project, $kind, $from, $to, $country, $revision, $file, $rows, $bytes, $at, $at)
