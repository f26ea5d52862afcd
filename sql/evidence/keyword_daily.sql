-- Writes keyword_daily of one project: every keyword on every day, some shown often and most seldom. $keywords, $days: how
-- many; $first: the first day; $target: file.
copy (
  with drawn as (
    select keyword, day, hash('evidence', keyword, day) as dice, hash('place', keyword) % 40 as place
    from unnest(range($keywords::int)) as numbers(keyword), unnest(range($days::int)) as days(day)
  ),
  shown as (
    select *, ((3 + 3000 // (1 + keyword % 500)) * (50 + dice % 100) // 100)::bigint as impressions from drawn
  )
  select
    'Proj1' as project_id, lpad(keyword::varchar, 5, '0') as keyword_id, $first::date + day::int as date, 'mobile' as device,
    (impressions // 10)::bigint as clicks, impressions,
    (impressions * place * (80 + (dice >> 16) % 40) // 100)::bigint as sum_position
  from shown where impressions > 0
) to $target (format parquet)
