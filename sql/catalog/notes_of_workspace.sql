-- The notes of a workspace that belong to none of its projects, oldest first. $workspace.
select n.id, n.scope, n.date, n.end_date as endDate, n.category, n.text, n.client_visible as clientVisible, n.author,
  null as groupId, null as groupName, null as keywordId, null as keywordQuery, n.page,
  n.created_at as createdAt, n.updated_at as updatedAt
from notes n
where n.workspace_id = $workspace and n.project_id is null
order by n.date, n.created_at, n.id
