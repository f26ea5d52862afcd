-- Stored facts of keywords that a window says nothing about, on the days that it replaces. $files: stored files;
-- $project; $days: the days; $keywords: the ids of those keywords; $target.
copy (
  select $project as project_id, * from read_parquet($files)
  where date in (select unnest($days)::date) and keyword_id in (select unnest($keywords))
) to $target (format parquet)
