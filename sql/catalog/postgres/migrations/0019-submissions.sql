-- Forms that have created something. A form that is submitted again gets the stored result. `hash` is that of the key that the
-- form has made, `request` that of what it sent. `result` is encrypted by the key itself, which is not stored. `created_at`:
-- microseconds.
create table submissions (
  hash text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  request text collate "C" not null,
  result text collate "C" not null,
  created_at bigint not null
);
create index submissions_by_age on submissions (created_at);
create index submissions_by_workspace on submissions (workspace_id);
