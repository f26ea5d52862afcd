-- Facts of a search type other than web, by day and device or country. {key}: that column; {position}: the sum of positions,
-- or 0 for types without them. $files: export files of one kind; $site: the site_url to keep, or null for all; $type: in
-- lower case, without underscores; $project; $target.
copy (
  select $project as project_id, data_date::date as date, {key}, sum(clicks)::bigint as clicks,
    sum(impressions)::bigint as impressions, ({position})::bigint as sum_position
  from read_parquet($files, union_by_name = true, hive_partitioning = false)
  where replace(lower(search_type), '_', '') = $type and ($site is null or site_url = $site)
  group by all
) to $target (format parquet)
