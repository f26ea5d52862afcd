-- Notes on days of a project or workspace.

-- part: note
-- A note, with the names of what it is about.
-- rows: {notes_fields}, groupName text, keywordQuery text
{notes_fields}, g.name as groupName, k.query as keywordQuery

-- part: notes
-- Notes, with their groups and keywords.
notes
left join groups g on g.project_id = notes.project_id and g.id = notes.group_id
left join keywords k on k.project_id = notes.project_id and k.id = notes.keyword_id

-- name: of_project
-- The notes that apply to a project, oldest first. $project, $workspace; $from and $to: days or null;
-- $clientVisible: 1 for client-visible notes only.
-- rows: {>note}
select {>note}
from {>notes}
where notes.workspace_id = $workspace and (notes.project_id = $project or notes.project_id is null)
  and (cast($from as text) is null or coalesce(notes.end_date, notes.date) >= $from)
  and (cast($to as text) is null or notes.date <= $to)
  and ($clientVisible = 0 or notes.client_visible = 1)
order by notes.date, notes.created_at, notes.id

-- name: of_workspace
-- The notes of a workspace that belong to none of its projects, oldest first. $workspace.
-- rows: {>note}
select {>note}
from {>notes}
where notes.workspace_id = $workspace and notes.project_id is null
order by notes.date, notes.created_at, notes.id

-- name: one
-- A note. $id.
-- rows: {>note}
select {>note}
from {>notes}
where notes.id = $id

-- name: count_since
-- How many notes of a workspace and its projects were written since. $workspace; $since: microseconds.
-- rows: notes integer
select cast(count(*) as integer) as notes from notes where workspace_id = $workspace and created_at >= $since
