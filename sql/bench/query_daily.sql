-- Writes query_daily: each query on about a third of the days, in two countries. $seed: text; $last: the last day;
-- $days: how many days; $target: file. Needs bench_projects and bench_texts.
copy (
  with rows as (
    select
      id as project_id, number, text, $last::date - ago::int as date, hash($seed, 'query', id, number, ago) as dice
    from bench_projects
    join bench_texts on number < queries,
    unnest(range($days::int)) as days(ago)
  ),
  shown as (
    select *, (1 + dice % (5 + 100000 // (1 + number)))::bigint as impressions from rows where (dice >> 40) % 3 = 0
  )
  select
    project_id, date, text as query, ['usa', 'gbr'][1 + (dice >> 50)::int % 2] as country,
    (impressions * ((dice >> 20) % 300) // 1000)::bigint as clicks,
    impressions,
    (impressions * ((dice >> 32) % 400) // 10)::bigint as sum_position
  from shown
  order by date
) to $target (format parquet, compression zstd)
