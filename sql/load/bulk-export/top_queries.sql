-- The queries with the most clicks. $rows: property rows; $max: how many.
select query from read_parquet($rows) where query is not null
group by query order by sum(clicks) desc, sum(impressions) desc, query limit $max
