-- Writes keyword_page_daily of one project: a page for each keyword and day, and a second one for a third of the keywords.
-- $source: a file of keyword_daily; $target: file.
copy (
  select project_id, keyword_id, date, 'https://shop.example/' || keyword_id || if(second, '/more', '') as url, clicks,
    impressions, sum_position
  from (select *, unnest(if(keyword_id::int % 3 = 0, [false, true], [false])) as second from read_parquet($source))
) to $target (format parquet)
