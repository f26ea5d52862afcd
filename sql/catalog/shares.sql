-- Shares, the newest first. $project: null for those of all projects; $id: null for all.
select s.id, s.project_id as project, p.workspace_id as workspace, s.screens, s.hide_queries as hideQueries,
  s.password_hash as passwordHash, s.expires_at as expiresAt, s.created_at as createdAt, s.revoked_at as revokedAt
from shares s join projects p on p.id = s.project_id
where (cast($project as text) is null or s.project_id = $project) and (cast($id as text) is null or s.id = $id)
order by s.created_at desc, s.id
