-- Facts of queries, without anonymised queries. $rows: property rows; $project; $target.
copy (
  select $project as project_id, date, query, country, sum(clicks)::bigint as clicks,
    sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from read_parquet($rows) where query is not null group by date, query, country
) to $target (format parquet)
