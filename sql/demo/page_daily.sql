-- Writes page_daily: pages by day and country, including clicks and impressions of anonymised queries. $target: file.
copy (
  select
    split.project as project_id, date, queries.page as url, country,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from demo_split as split
  join demo_queries as queries on queries.project = split.project and queries.number = split.number
  where queries.page is not null
  group by split.project, date, queries.page, country
  order by split.project, queries.page, country, date
) to $target (format parquet, compression zstd)
