-- Stores a share. $id, $project, $screens: a JSON array; $hideQueries: 0 or 1; $hash: of its token; $passwordHash or null;
-- $expiresAt or null, $at: microseconds.
insert into shares (id, project_id, screens, hide_queries, token_hash, password_hash, expires_at, created_at)
values ($id, $project, $screens, $hideQueries, $hash, $passwordHash, $expiresAt, $at)
