-- Facts of appearances, from searchdata_url_impression: the flag is_product_snippets is the appearance PRODUCT_SNIPPETS.
-- Flags overlap, and new ones are added over time. $files; $site: the site_url to keep, or null for all; $project;
-- $target.
copy (
  with flagged as (
    unpivot (
      select data_date::date as date, clicks, impressions, sum_position,
        columns(name -> starts_with(name, 'is_') and name <> 'is_page_experience'
          and not starts_with(name, 'is_anonymized_'))::boolean
      from read_parquet($files, union_by_name = true, hive_partitioning = false)
      where lower(search_type) = 'web' and ($site is null or site_url = $site)
    )
    on columns(name -> starts_with(name, 'is_')) into name flag value present
  )
  select $project as project_id, date, upper(substr(flag, 4)) as appearance, sum(clicks)::bigint as clicks,
    sum(impressions)::bigint as impressions, sum(sum_position)::bigint as sum_position
  from flagged where present group by all
) to $target (format parquet)
