-- Writes query_daily: visible queries by day and country. $target: file.
copy (
  select split.project as project_id, date, queries.text as query, country, clicks, impressions, sum_position
  from demo_split as split
  join demo_queries as queries on queries.project = split.project and queries.number = split.number
  where queries.text is not null
  order by split.project, split.number, country, date
) to $target (format parquet, compression zstd)
