-- Writes country_daily: the totals of every site by day and country, from $from on. $target: file.
copy (
  select project as project_id, date, country, clicks, impressions, sum_position
  from demo_countries
  where date >= $from::date
  order by project, date, country
) to $target (format parquet, compression zstd)
