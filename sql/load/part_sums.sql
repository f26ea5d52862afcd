-- The largest sum of a written file. $file.
select greatest(sum(clicks), sum(impressions), sum(sum_position))::varchar as largest from read_parquet($file)
