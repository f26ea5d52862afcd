-- Writes site_daily: the totals of every site by day and device, anonymised queries included. $target: file.
copy (
  select
    project as project_id, date, device,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from demo_base
  group by project, date, device
  order by project, date, device
) to $target (format parquet, compression zstd)
