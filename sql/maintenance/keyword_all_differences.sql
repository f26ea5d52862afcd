-- The ordinals of files of keyword_all (days over all devices) that differ from the sums of the days. $days: files of
-- keyword_daily; $stored: their files of keyword_all; $days_of, $stored_of: ordinals.
with days as (
  select ordinal, keyword_id, date, clicks, impressions, sum_position
  from read_parquet($days, filename = true, hive_partitioning = false)
  join (select unnest($days) as filename, unnest($days_of)::integer as ordinal) using (filename)
),
stored as (
  select ordinal, keyword_id, date, clicks, impressions, sum_position
  from read_parquet($stored, filename = true, hive_partitioning = false)
  join (select unnest($stored) as filename, unnest($stored_of)::integer as ordinal) using (filename)
)
select distinct ordinal
from (
  select *, 0 as stored from days
  union all
  select ordinal, keyword_id, date, -clicks, -impressions, -sum_position, 1 from stored
)
group by ordinal, keyword_id, date
having sum(stored) <> 1 or count(*) = 1 or count(clicks + impressions + sum_position) < count(*)
  or sum(clicks) <> 0 or sum(impressions) <> 0 or sum(sum_position) <> 0
