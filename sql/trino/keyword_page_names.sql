-- The pages of keywords, without fragments. $projects and $files: the projects and addresses of the files; $from, $to: days;
-- $keywords: ids.
select distinct split_part(url, '#', 1) as url
from keyword_page_daily
where project_id in ($projects) and "$path" in ($files)
  and "date" between date($from) and date($to) and keyword_id in (select id from unnest($keywords) as k(id))
