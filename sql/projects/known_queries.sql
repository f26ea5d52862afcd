-- How many of some queries have been stored, in any case. $files: Parquet files of query_daily; $queries: lower case.
select count(distinct lower(query))::double as queries from read_parquet($files)
where list_contains($queries, lower(query))
