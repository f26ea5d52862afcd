-- Writes country_monthly: full months before $until, the twenty largest countries by name and the others in one row.
-- $first: the first day of the demo (a month that began before it is left out); $target: file.
copy (
  select
    project as project_id, date_trunc('month', date)::date as month, if(is_large, country, 'other') as country,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from demo_countries
  where date_trunc('month', date) >= $first::date and date < $until::date
  group by all
  order by project_id, month, country
) to $target (format parquet, compression zstd)
