-- Findings that members have dismissed.

-- name: of_project
-- The dismissed findings of a project, the newest first. $project; $id: null for all.
-- rows: id text, type text, kind text, row text, country text, days integer, through text, clicks integer, low integer,
--   high integer, pages text, author text, at integer
select id, type, row_kind as kind, row_text as row, country, days, through, gain_clicks as clicks, gain_low as low,
  gain_high as high, pages, author, dismissed_at as at
from dismissed_findings
where project_id = $project and (cast($id as text) is null or id = $id)
order by dismissed_at desc, id

-- name: put
-- Dismisses a finding, or once more what was found now. $id, $project, $type, $kind, $row, $country, $days, $through, $clicks,
-- $low, $high, $pages, $author; $at: microseconds.
insert into dismissed_findings (id, project_id, type, row_kind, row_text, country, days, through, gain_clicks, gain_low,
  gain_high, pages, author, dismissed_at)
values ($id, $project, $type, $kind, $row, $country, $days, $through, $clicks, $low, $high, $pages, $author, $at)
on conflict (id) do update set days = excluded.days, through = excluded.through, gain_clicks = excluded.gain_clicks,
  gain_low = excluded.gain_low, gain_high = excluded.gain_high, pages = excluded.pages, author = excluded.author,
  dismissed_at = excluded.dismissed_at

-- name: remove
-- Restores a finding. $id.
delete from dismissed_findings where id = $id
