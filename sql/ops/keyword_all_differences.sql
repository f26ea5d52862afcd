-- How many rows of keyword_all (days over all devices) differ from the sums of the days. $days: a file of keyword_daily;
-- $stored: its file of keyword_all.
with added as (
  select keyword_id, date, sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions,
    sum(sum_position)::bigint as sum_position
  from read_parquet($days) group by keyword_id, date
),
stored as (select keyword_id, date, clicks, impressions, sum_position from read_parquet($stored))
select ((select count(*) from (from added except all from stored))
  + (select count(*) from (from stored except all from added)))::double as differences
