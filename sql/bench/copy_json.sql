-- What the server answers about days of keywords, written by DuckDB itself as a JSON object per line. $files: of keyword_all; $keywords: file
-- of the keywords; $project; $from, $to: days; $target: file.
copy (
  select
    k.id, k.query, d.date, d.clicks, d.impressions,
    round(d.clicks / nullif(d.impressions, 0), 4) as ctr,
    round(d.sum_position / nullif(d.impressions, 0) + 1, 1) as position
  from read_parquet($files) d
  join read_parquet($keywords) k on k.id = d.keyword_id and k.project_id = $project
  where d.date between $from::date and $to::date
  order by k.query, d.date
) to $target (format json)
