-- Notes on days of a project or workspace.

-- part: note
-- A note, with the names of what it is about.
-- rows: id text, scope text, date text, endDate text, category text, text text, clientVisible integer, author text,
--   groupId text, groupName text, keywordId text, keywordQuery text, page text, createdAt integer, updatedAt integer
n.id, n.scope, n.date, n.end_date as endDate, n.category, n.text, n.client_visible as clientVisible, n.author,
  n.group_id as groupId, g.name as groupName, n.keyword_id as keywordId, k.query as keywordQuery, n.page,
  n.created_at as createdAt, n.updated_at as updatedAt

-- part: notes
-- Notes, with their groups and keywords.
notes n
left join groups g on g.project_id = n.project_id and g.id = n.group_id
left join keywords k on k.project_id = n.project_id and k.id = n.keyword_id

-- name: of_project
-- The notes that apply to a project, oldest first. $project, $workspace; $from and $to: days or null;
-- $clientVisible: 1 for client-visible notes only.
-- rows: {>note}
select {>note}
from {>notes}
where n.workspace_id = $workspace and (n.project_id = $project or n.project_id is null)
  and (cast($from as text) is null or coalesce(n.end_date, n.date) >= $from)
  and (cast($to as text) is null or n.date <= $to)
  and ($clientVisible = 0 or n.client_visible = 1)
order by n.date, n.created_at, n.id

-- name: of_workspace
-- The notes of a workspace that belong to none of its projects, oldest first. $workspace.
-- rows: {>note}
select n.id, n.scope, n.date, n.end_date as endDate, n.category, n.text, n.client_visible as clientVisible, n.author,
  null as groupId, null as groupName, null as keywordId, null as keywordQuery, n.page,
  n.created_at as createdAt, n.updated_at as updatedAt
from notes n
where n.workspace_id = $workspace and n.project_id is null
order by n.date, n.created_at, n.id

-- name: one
-- A note and its owner. $id.
-- rows: {>note}, workspace text, project text
select {>note}, n.workspace_id as workspace, n.project_id as project
from {>notes}
where n.id = $id

-- name: count_since
-- How many notes of a workspace and its projects were written since. $workspace; $since: microseconds.
-- rows: notes integer
select cast(count(*) as integer) as notes from notes where workspace_id = $workspace and created_at >= $since
