-- Channels of delivery, and what is sent over them. Addresses of chats and webhooks, secrets of signatures and tokens of
-- unsubscribe links are encrypted. Instants are microseconds since 1970 (UTC).

-- `shown`: the address as lists show it; `address`: null where that is all of it. `events`, `types`: JSON arrays; null
-- `types` and `min_severity` for all. `secret`: what signs webhooks, or the token of unsubscribe links, which `token_hash`
-- (SHA-256, hexadecimal) finds; `old_secret` signs too until `old_secret_until`.
create table channels (
  id text collate "C" primary key,
  workspace_id text collate "C" not null references workspaces (id) on delete cascade,
  project_id text collate "C" references projects (id) on delete cascade,
  kind text collate "C" not null,
  name text collate "C" not null,
  shown text collate "C" not null,
  address text collate "C",
  events text collate "C" not null,
  types text collate "C",
  min_severity text collate "C" check (min_severity in ('info', 'warning', 'critical')),
  state text collate "C" not null check (state in ('on', 'disabled')),
  secret text collate "C",
  old_secret text collate "C",
  old_secret_until bigint,
  token_hash text collate "C" unique,
  created_at bigint not null
);
create index channels_of_workspace on channels (workspace_id);
create index channels_of_project on channels (project_id);

-- `body`: the JSON that a webhook gets; links are paths until the first attempt. `claim`: the sender that has it until
-- `claimed_until`. `status`: that of the last answer; `ended_at`: when it was sent, failed or cancelled.
create table deliveries (
  id text collate "C" primary key,
  channel_id text collate "C" not null references channels (id) on delete cascade,
  event text collate "C" not null,
  subject text collate "C" not null,
  body text collate "C" not null,
  state text collate "C" not null check (state in ('pending', 'sent', 'failed', 'cancelled')),
  attempts bigint not null,
  next_at bigint,
  claim text collate "C",
  claimed_until bigint,
  status bigint,
  answer text collate "C",
  created_at bigint not null,
  sent_at bigint,
  ended_at bigint
);
create index deliveries_of_channel on deliveries (channel_id, created_at);
create index deliveries_pending on deliveries (channel_id, next_at, created_at, id) where state = 'pending';
create index deliveries_claimed on deliveries (channel_id, claimed_until) where claimed_until is not null;
create index deliveries_ended on deliveries (ended_at) where ended_at is not null;

-- Whether channels were told that the sync of a project fails.
alter table sync_projects add column failing bigint not null default 0;
update sync_projects set failing = 1
where project_id in (select id from projects where sync_status in ('warning', 'failed'));
