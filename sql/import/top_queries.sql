-- The queries with the most clicks. $files: staged tables with queries; $max: how many.
select query from read_parquet($files, union_by_name = true) where query is not null
group by query order by sum(clicks) desc, sum(impressions) desc, query limit $max
