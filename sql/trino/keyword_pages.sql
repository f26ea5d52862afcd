-- As alerts/keyword_pages.sql, with the page itself. $projects and $files: the projects and addresses of the files; $from,
-- $to: days; $all: whether all keywords are read, otherwise $keywords: ids.
select
  cast(from_base(to_hex(to_utf8(keyword_id)), 16) as double) as keyword,
  cast(date_diff('day', date($from), "date") as double) as "day",
  split_part(url, '#', 1) as url,
  cast(impressions as double) as impressions
from keyword_page_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to)
  and ($all or keyword_id in (select id from unnest($keywords) as k(id)))
