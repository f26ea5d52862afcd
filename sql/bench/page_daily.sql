-- Writes page_daily: each page on about a third of the days, in two countries. $seed: text; $last: the last day;
-- $days: how many days; $target: file. Needs bench_projects.
copy (
  with rows as (
    select
      id as project_id, page, $last::date - ago::int as date, hash($seed, 'page', id, page, ago) as dice
    from bench_projects, unnest(range(pages)) as numbers(page), unnest(range($days::int)) as days(ago)
  ),
  shown as (
    select *, (1 + dice % (5 + 100000 // (1 + page)))::bigint as impressions from rows where (dice >> 40) % 3 = 0
  )
  select
    project_id, date, 'https://' || lower(project_id) || '.example/catalogue/section-' || page % 40 || '/item-' || page as url,
    ['usa', 'gbr'][1 + (dice >> 50)::int % 2] as country,
    (impressions * ((dice >> 20) % 300) // 1000)::bigint as clicks,
    impressions,
    (impressions * ((dice >> 32) % 400) // 10)::bigint as sum_position
  from shown
  order by date
) to $target (format parquet, compression zstd)
