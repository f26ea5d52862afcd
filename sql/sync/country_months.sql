-- Months of countries from days: the 20 with most clicks by name, the rest as 'other'. $project; $months: first days of
-- the months; $target.
copy (
  with sums as (
    select date_trunc('month', date)::date as month, country, sum(clicks) as clicks, sum(impressions) as impressions,
      sum(sum_position) as sum_position
    from country_rows group by all having month in (select unnest($months)::date)
  ),
  ranked as (
    select *, row_number() over (partition by month order by clicks desc, impressions desc, country) as rank from sums
  )
  select $project as project_id, month, case when rank <= 20 then country else 'other' end as country,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from ranked group by month, case when rank <= 20 then country else 'other' end
) to $target (format parquet)
