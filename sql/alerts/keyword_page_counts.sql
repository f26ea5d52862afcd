-- How many rows of pages each keyword has, and whether they are of more than one page; pages that differ by a fragment only
-- are one. $files: of keyword_page_daily; $from, $to: days.
select keyword_id as keyword, count(*)::double as rows, min(page) <> max(page) as several
from (
  select keyword_id, hash(split_part(url, '#', 1)) as page from read_parquet($files)
  where date between $from::date and $to::date
)
group by keyword_id
