-- Facts of pages, from searchdata_url_impression. $files; $site: the site_url to keep, or null for all; $project;
-- $target.
copy (
  select $project as project_id, data_date::date as date, url, coalesce(nullif(lower(country), ''), 'zzz') as country,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from read_parquet($files, union_by_name = true, hive_partitioning = false)
  where lower(search_type) = 'web' and ($site is null or site_url = $site)
  group by all
) to $target (format parquet)
