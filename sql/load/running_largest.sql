-- The largest running total of a written file. $file.
select greatest(max(clicks), max(impressions), max(sum_position))::varchar as largest from read_parquet($file)
