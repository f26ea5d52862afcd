-- The ordinals of files of running totals that differ from the sums of all days. Rows of zeros are ignored: loads keep them
-- for keywords that had data before. $days: all files of keyword_daily of some projects; $stored: the file of running
-- totals of each; $days_of, $stored_of: ordinals.
with daily as (
  select ordinal, device, keyword_id, date_trunc('month', date)::date as date, sum(clicks) as clicks,
    sum(impressions) as impressions, sum(sum_position) as sum_position
  from read_parquet($days, filename = true, hive_partitioning = false)
  join (select unnest($days) as filename, unnest($days_of)::integer as ordinal) using (filename)
  group by all
),
sums as materialized (
  from daily
  union all
  select ordinal, 'all', keyword_id, date, sum(clicks), sum(impressions), sum(sum_position)
  from daily group by ordinal, keyword_id, date
),
months as (select distinct ordinal, date from sums),
grid as (
  select ordinal, device, keyword_id, months.date
  from (select ordinal, device, keyword_id, min(date) as first from sums group by all) keywords
  join months using (ordinal) where months.date >= first
),
made as (
  select ordinal, device, keyword_id, ('0x' || hex(keyword_id))::bigint as number, date,
    sum(coalesce(clicks, 0)) over months as clicks, sum(coalesce(impressions, 0)) over months as impressions,
    sum(coalesce(sum_position, 0)) over months as sum_position
  from grid left join sums using (ordinal, device, keyword_id, date)
  window months as (partition by ordinal, device, keyword_id order by date)
),
stored as (
  select ordinal, device, keyword_id, number, date, clicks, impressions, sum_position
  from read_parquet($stored, filename = true, hive_partitioning = false)
  join (select unnest($stored) as filename, unnest($stored_of)::integer as ordinal) using (filename)
  semi join months using (ordinal, date)
)
select distinct ordinal
from (
  select *, 1 as made from made where clicks <> 0 or impressions <> 0 or sum_position <> 0
  union all
  select ordinal, device, keyword_id, number, date, -clicks, -impressions, -sum_position, -1
  from stored where clicks <> 0 or impressions <> 0 or sum_position <> 0
)
group by ordinal, device, keyword_id, number, date
having sum(made) <> 0 or sum(clicks) <> 0 or sum(impressions) <> 0 or sum(sum_position) <> 0
