-- Writes page_daily or query_daily as a site has them: few rows have most impressions, and CTR follows the position.
-- {table}: its name, {text}: its column, {rows}: the column of bench_projects with their number; $seed: text; $last: the last
-- day; $days: how many days; $target: file. Needs bench_projects.
copy (
  with rows as (
    select
      id as project_id, row, $last::date - ago::int as date,
      1 + hash($seed, '{table}', row) % 300 / 10e0 as position,
      hash($seed, '{table}', row, ago) as dice
    from bench_projects, unnest(range({rows})) as numbers(row), unnest(range($days::int)) as days(ago)
  ),
  shown as (
    select *, floor(4000 / (10 + row) ** 0.85 * ((dice % 1000) / 1000e0 + 0.5) + (dice >> 12) % 1000 / 1000e0)::bigint as impressions
    from rows
  )
  select
    project_id, date, 'https://shop.example/section-' || row % 40 || '/item-' || row as {text}, ['usa', 'gbr'][1 + (dice >> 50)::int % 2] as country,
    least(impressions, floor(impressions * 0.3 / position + (dice >> 24) % 1000 / 1000e0))::bigint as clicks,
    impressions,
    round(impressions * (position - 1 + (dice >> 36) % 10 / 10e0))::bigint as sum_position
  from shown
  where impressions > 0
  order by date
) to $target (format parquet, compression zstd)
