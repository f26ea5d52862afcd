-- How many running totals differ from the sums of all days. Rows of zeros are ignored: loads keep them for keywords that
-- had data before. $made: a file of running totals just made from all days; $stored: the current one; $months: first days
-- of the stored months.
with made as (
  select device, keyword_id, number, date, clicks, impressions, sum_position from read_parquet($made)
  where clicks <> 0 or impressions <> 0 or sum_position <> 0
),
stored as (
  select device, keyword_id, number, date, clicks, impressions, sum_position from read_parquet($stored)
  where (clicks <> 0 or impressions <> 0 or sum_position <> 0) and list_contains($months::date[], date)
)
select ((select count(*) from (from made except all from stored))
  + (select count(*) from (from stored except all from made)))::double as differences
