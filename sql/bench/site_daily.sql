-- Writes site_daily. $seed: text; $last: the last day; $target: file. Needs bench_projects.
copy (
  with rows as (
    select id as project_id, $last::date - ago::int as date, device, hash($seed, 'site', id, ago, device) as dice
    from bench_projects, unnest(range(days)) as days(ago), unnest(['desktop', 'mobile', 'tablet']) as devices(device)
  ),
  shown as (select *, (1000 + dice % 100000)::bigint as impressions from rows)
  select
    project_id, date, device,
    (impressions * ((dice >> 20) % 300) // 1000)::bigint as clicks,
    impressions,
    (impressions * ((dice >> 32) % 400) // 10)::bigint as sum_position
  from shown
  order by date
) to $target (format parquet, compression zstd)
