-- How many cumulative totals of a month differ from the sums of the days. Rows of zeros are ignored: loads keep them for
-- keywords that had data before. $made: a file just made from the days; $stored: the current one.
with made as (
  from read_parquet($made) where clicks_31 <> 0 or impressions_31 <> 0 or sum_position_31 <> 0
),
stored as (
  from read_parquet($stored) where clicks_31 <> 0 or impressions_31 <> 0 or sum_position_31 <> 0
)
select ((select count(*) from (from made except all from stored))
  + (select count(*) from (from stored except all from made)))::double as differences
