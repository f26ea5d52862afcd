-- The properties that the rows belong to. $files: export files of either kind.
select distinct site_url as "siteUrl" from read_parquet($files, union_by_name = true, hive_partitioning = false)
where site_url is not null order by 1
