-- Web rows counted by property, from searchdata_site_impression; anonymised rows have a null query. Rows of the export
-- repeat keys, so they are summed. $files; $site: the site_url to keep, or null for all; $target.
copy (
  select data_date::date as date, lower(device) as device, coalesce(nullif(lower(country), ''), 'zzz') as country,
    case when not coalesce(is_anonymized_query, false) then nullif(query, '') end as query,
    sum(clicks)::bigint as clicks, sum(impressions)::bigint as impressions, sum(sum_top_position)::bigint as sum_position
  from read_parquet($files, union_by_name = true, hive_partitioning = false)
  where lower(search_type) = 'web' and ($site is null or site_url = $site)
  group by 1, 2, 3, 4
) to $target (format parquet)
