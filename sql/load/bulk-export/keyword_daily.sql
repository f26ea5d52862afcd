-- Facts of tracked keywords, whose queries match in any letter case. $rows: property rows; $keywords: ndjson file of id and
-- query; $project; $target.
copy (
  select $project as project_id, k.id as keyword_id, r.date, r.device, sum(r.clicks)::bigint as clicks,
    sum(r.impressions)::bigint as impressions, sum(r.sum_position)::bigint as sum_position
  from read_parquet($rows) r
  join read_json($keywords, format = 'newline_delimited', columns = {id: 'VARCHAR', query: 'VARCHAR'}) k
    on lower(k.query) = lower(r.query)
  group by k.id, r.date, r.device
) to $target (format parquet)
