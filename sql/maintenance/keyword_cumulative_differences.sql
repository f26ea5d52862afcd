-- The ordinals of files of cumulative totals that differ from the sums of the days, by what each day adds: the first day of
-- a month also all that was before it. Zeros are ignored: loads keep rows of them for keywords that had data before. $days:
-- files of keyword_daily; $stored: their cumulative totals; $running: the correct running totals of the project of each;
-- $days_of, $stored_of, $running_of: ordinals; $months: the first day of the month of each ordinal.
with days as (
  select ordinal, keyword_id, day(date) as day, clicks::double as clicks, impressions::double as impressions,
    sum_position::double as sum_position
  from read_parquet($days, filename = true, hive_partitioning = false)
  join (select unnest($days) as filename, unnest($days_of)::integer as ordinal) using (filename)
),
running as (
  select ordinal, keyword_id, clicks::double as clicks, impressions::double as impressions,
    sum_position::double as sum_position, date
  from read_parquet(list_distinct($running), filename = true, hive_partitioning = false)
  join (
    select unnest($running) as filename, unnest($running_of)::integer as ordinal, unnest($months)::date as month
  ) using (filename)
  where device = 'all' and date < month
  qualify dense_rank() over (partition by ordinal order by date desc) = 1
),
totals as (
  select ordinal, number, unnest(range(1, 32)) as day, unnest([*columns('^clicks_[0-9]+$')]) as clicks,
    unnest([*columns('^impressions_[0-9]+$')]) as impressions, unnest([*columns('^sum_position_[0-9]+$')]) as sum_position,
    unnest([0.0, *columns('^clicks_([0-9]|[12][0-9]|30)$')]) as clicks_before,
    unnest([0.0, *columns('^impressions_([0-9]|[12][0-9]|30)$')]) as impressions_before,
    unnest([0.0, *columns('^sum_position_([0-9]|[12][0-9]|30)$')]) as sum_position_before
  from read_parquet($stored, filename = true, hive_partitioning = false)
  join (select unnest($stored) as filename, unnest($stored_of)::integer as ordinal) using (filename)
),
added as (
  select ordinal, ('0x' || hex(keyword_id))::bigint::double as number, day, clicks, impressions, sum_position, 0 as stored
  from days
  union all
  select ordinal, ('0x' || hex(keyword_id))::bigint::double, 1, clicks, impressions, sum_position, 0 from running
  union all
  select ordinal, number, day, clicks_before - clicks, impressions_before - impressions, sum_position_before - sum_position, 1
  from totals
  where day = 1 or clicks is distinct from clicks_before or impressions is distinct from impressions_before
    or sum_position is distinct from sum_position_before
)
select distinct ordinal
from added
group by ordinal, number, day
having sum(stored) > 1 or count(clicks + impressions + sum_position) < count(*)
  or sum(clicks) <> 0 or sum(impressions) <> 0 or sum(sum_position) <> 0
