-- As alerts/table_days.sql. {table}; $projects and $files: the projects and addresses of the files; $from, $to: days.
select distinct cast("date" as varchar) as "date"
from {table}
where project_id in ($projects) and "$path" in ($files) and "date" between date($from) and date($to)
order by 1
