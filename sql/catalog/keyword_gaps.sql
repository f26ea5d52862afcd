-- The unknown days of keywords that lie in a range. $project; $from, $to: days; $archived: 1 for those of archived keywords, too.
select g.keyword_id as keyword, g.first_day as "from", g.last_day as "to"
from keyword_gaps g join keywords k on k.project_id = g.project_id and k.id = g.keyword_id
where g.project_id = $project and g.first_day <= $to and g.last_day >= $from and k.archived <= $archived
order by g.keyword_id, g.first_day
