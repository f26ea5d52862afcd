-- Writes keyword_daily: every keyword on every day and device, ordered by day as in a nightly export. $seed: text;
-- $last: the last day; $target: file. Needs bench_projects.
copy (
  with rows as (
    select
      id as project_id, keyword, $last::date - ago::int as date, device, hash($seed, id, keyword, ago, device) as dice
    from bench_projects, unnest(range(days)) as days(ago), unnest(range(keywords)) as numbers(keyword),
      unnest(['desktop', 'mobile', 'tablet']) as devices(device)
  ),
  shown as (
    select *, (1 + dice % (10 + 4000 // (1 + keyword % 200)))::bigint as impressions from rows
  )
  select
    project_id, lpad(keyword::varchar, 5, '0') as keyword_id, date, device,
    (impressions * ((dice >> 20) % 300) // 1000)::bigint as clicks,
    impressions,
    (impressions * ((dice >> 32) % 400) // 10)::bigint as sum_position
  from shown
  order by date
) to $target (format parquet, compression zstd)
