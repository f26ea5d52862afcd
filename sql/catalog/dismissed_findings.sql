-- The dismissed findings of a project, the newest first. $project; $id: null for all.
select id, type, row_kind as kind, row_text as row, country, days, through, gain_clicks as clicks, gain_low as low,
  gain_high as high, pages, author, dismissed_at as at
from dismissed_findings
where project_id = $project and (cast($id as text) is null or id = $id)
order by dismissed_at desc, id
