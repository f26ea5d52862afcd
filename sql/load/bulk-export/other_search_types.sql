-- Rows of search types other than web, as the export names them. $files: export files of either kind; $site: the site_url
-- to keep, or null for all.
select coalesce(upper(search_type), 'none') as "searchType", count(*)::double as rows
from read_parquet($files, union_by_name = true, hive_partitioning = false)
where coalesce(lower(search_type), '') <> 'web' and ($site is null or site_url = $site)
group by 1 order by 1
