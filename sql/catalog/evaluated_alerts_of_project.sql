-- The evaluated alerts of a project. $project.
select id, type, subject, basis, kind, severity, title, body, date, keyword_id as keywordId, url,
  created_at as createdAt, resolved_at as resolvedAt
from evaluated_alerts where project_id = $project
