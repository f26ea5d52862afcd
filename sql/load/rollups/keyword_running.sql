-- Running totals of keywords: the total from the first stored day to the end of a month, by device and over all devices
-- ('all'). The date is the month's first day; each month has a row for every keyword with data in it or before it. number:
-- the keyword's id as a number (`shortIdNumber`); computing it in each query took a fifth of the query's time. $daily:
-- files of keyword_daily, if $hasDaily; $old: the old running totals, if $hasOld; $months: first days of the months that
-- $daily replaces; $target. Not zstd: decompressing a month takes a third of the time that reading its rows takes.
copy (
  with old as (
    select device, keyword_id, date, clicks, impressions, sum_position from read_parquet($old) where $hasOld
  ),
  -- The last month before the first replaced one: totals up to here stay the same.
  base as (select coalesce(max(date), date '0001-01-01') as month from old where date < list_min($months::date[])),
  -- The month as a number: grouping by it takes two thirds of the time that grouping by a date takes.
  devices as materialized (
    select device, keyword_id, make_date(month // 100, month % 100, 1) as date, clicks, impressions, sum_position
    from (
      select device, keyword_id, year(date) * 100 + month(date) as month, sum(clicks::double)::bigint as clicks,
        sum(impressions::double)::bigint as impressions, sum(sum_position::double)::bigint as sum_position
      from read_parquet($daily) where $hasDaily group by all
    )
  ),
  -- Sums of months. The sum of the base month is its running total, so that later months add up from it.
  sums as materialized (
    from devices
    union all
    select 'all', keyword_id, date, sum(clicks)::bigint, sum(impressions)::bigint, sum(sum_position)::bigint
    from devices group by keyword_id, date
    union all
    from (
      select device, keyword_id, date, clicks - lag(clicks, 1, 0) over months as clicks,
        impressions - lag(impressions, 1, 0) over months as impressions,
        sum_position - lag(sum_position, 1, 0) over months as sum_position
      from old where date >= (select month from base) window months as (partition by device, keyword_id order by date)
    )
    where not list_contains($months::date[], date)
  ),
  grid as (
    select device, keyword_id, stored.date, number
    from (
      select device, keyword_id, min(date) as first, ('0x' || hex(keyword_id))::bigint as number
      from sums group by device, keyword_id
    ) keywords
    join (select distinct date from sums) stored on stored.date >= first
  )
  select device, keyword_id, number, date, sum(coalesce(clicks, 0)) over months::bigint as clicks,
    sum(coalesce(impressions, 0)) over months::bigint as impressions,
    sum(coalesce(sum_position, 0)) over months::bigint as sum_position
  from grid left join sums using (device, keyword_id, date)
  window months as (partition by device, keyword_id order by date)
  union all
  select device, keyword_id, ('0x' || hex(keyword_id))::bigint, date, clicks, impressions, sum_position
  from old where date < (select month from base)
  order by device, date, keyword_id
) to $target (format parquet, compression snappy, row_group_size 10240)
