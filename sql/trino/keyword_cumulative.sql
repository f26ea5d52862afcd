-- As facts/keyword_cumulative.sql. {clicks}, {impressions}, {sum_position}: the day's columns; $projects and $files: the
-- projects and addresses of the files.
select number as keyword, {clicks} as clicks, {impressions} as impressions, {sum_position} as "sumPosition"
from keyword_cumulative
where project_id in ($projects) and "$path" in ($files)
