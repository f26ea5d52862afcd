-- Months of countries from days: the 20 with most clicks by name, the rest as 'other'. $project; $months: first days of
-- the months; $target.
copy (
  with days as (
    select make_date(year(date), month(date), 1) as first, country, clicks, impressions, sum_position from country_rows
  ),
  sums as (
    select first, country, sum(clicks) as clicks, sum(impressions) as impressions, sum(sum_position) as sum_position
    from days where first in (select unnest($months)::date) group by first, country
  ),
  ranked as (
    select *, row_number() over (partition by first order by clicks desc, impressions desc, country) as rank from sums
  )
  select $project as project_id, first as month, if(rank <= 20, country, 'other') as country,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from ranked group by first, if(rank <= 20, country, 'other')
) to $target (format parquet)
