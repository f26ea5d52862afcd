-- Facts of the whole property. $rows: property rows; $project; $target.
copy (
  select $project as project_id, date, device, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions,
    sum(sum_position)::bigint as sum_position
  from read_parquet($rows) group by date, device
) to $target (format parquet)
