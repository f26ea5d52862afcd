-- When final days of a project were last compared with the provider. Microseconds since 1970 (UTC).
alter table sync_projects add column reconciled_at integer;
