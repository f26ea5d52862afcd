-- As alerts/page_urls.sql. $projects and $files: the projects and addresses of the files; $from, $to: days.
select distinct url
from page_daily
where project_id in ($projects) and "$path" in ($files) and "date" between date($from) and date($to)
