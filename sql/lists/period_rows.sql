-- The rows of a list of a range, in no order. {text}: their column. $files: one of page_period or query_period.
select {text} as text, clicks, impressions, sum_position from read_parquet($files)
