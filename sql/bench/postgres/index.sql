-- The index contains all columns that totals need, so that the table is not read.
create index on ordinate_bench (keyword_id, date) include (clicks, impressions, sum_position)
