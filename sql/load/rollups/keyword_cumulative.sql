-- Cumulative totals of keywords over all devices: a row for each keyword that any month until this one has, with columns
-- for each day of the month (clicks_1 to clicks_31 and so on): all that was stored until the end of that day, in this
-- month and before it. number: of the keyword's id, as `shortIdNumber` has it. All are DOUBLE, as they are read, and
-- exact, for the loader refuses larger sums. $file: days of the month, of keyword_all or keyword_daily; $running: the
-- running totals by month; $month: its first day; $target.
-- Without dictionaries: they make reading slower, and hardly save anything.
copy (
  with days as (
    select keyword_id, day(date)::utinyint as day, clicks::double as clicks, impressions::double as impressions,
      sum_position::double as sum_position
    from read_parquet($file)
    union all
    -- What was stored before the month counts on each of its days.
    select keyword_id, 0::utinyint, clicks::double, impressions::double, sum_position::double
    from read_parquet($running)
    where device = 'all'
      and date = (select max(date) from read_parquet($running) where device = 'all' and date < $month::date)
  )
  select ('0x' || hex(keyword_id))::bigint::double as number, {sums}
  from days group by keyword_id
  order by number
) to $target (format parquet, compression lz4_raw, row_group_size 20480, dictionary_size_limit 1)
