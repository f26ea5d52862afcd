-- A note and its owner. $id.
select n.id, n.scope, n.date, n.end_date as endDate, n.category, n.text, n.client_visible as clientVisible, n.author,
  n.group_id as groupId, g.name as groupName, n.keyword_id as keywordId, k.query as keywordQuery, n.page,
  n.created_at as createdAt, n.updated_at as updatedAt, n.workspace_id as workspace, n.project_id as project
from notes n
left join groups g on g.project_id = n.project_id and g.id = n.group_id
left join keywords k on k.project_id = n.project_id and k.id = n.keyword_id
where n.id = $id
