-- Writes site_daily of one project from its keywords. $source: a file of keyword_daily; $target: file.
copy (
  select project_id, date, device, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions,
    sum(sum_position)::bigint as sum_position
  from read_parquet($source) group by all
) to $target (format parquet)
