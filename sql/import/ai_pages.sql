-- Writes pages of a report about AI answers, those of one day or of a range. {measure}: what it counts. $file: staged rows;
-- $first, $last: the range of rows without a day; $project, $target.
copy (
  select $project as project_id, coalesce(date, $first::date) as first_day, coalesce(date, $last::date) as last_day,
    page as url, count as {measure}
  from read_parquet($file)
) to $target (format parquet)
