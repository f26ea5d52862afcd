-- Writes what a user without Ordinate would store: the daily rows of one project in one Parquet file, ordered by day.
-- $source: file of keyword_daily; $project; $target: file.
copy (
  select * from read_parquet($source) where project_id = $project order by date, keyword_id, device
) to $target (format parquet)
