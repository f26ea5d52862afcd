-- Cumulative totals of all keywords at the end of each day of a month: impressions_1 to impressions_31, then sum_position_1
-- to sum_position_31. $files: one of keyword_cumulative. keyword: its id as a number.
select number as keyword, columns('^impressions_'), columns('^sum_position_') from read_parquet($files)
