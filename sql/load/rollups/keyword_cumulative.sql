-- The cumulative totals of keywords in one month, as a file: of the rows of keyword_cumulative_rows.sql. No dictionaries:
-- they make reading slower and save hardly any space. $month: the month's first day; $target.
copy (select * exclude (month) from {rows} where month = $month::date order by number)
to $target (format parquet, compression snappy, row_group_size 20480, dictionary_size_limit 1)
