-- Alerts of our own, beside those that came with a snapshot: the rules that users define, the page that should rank for
-- a keyword, and how far a project has been evaluated.
-- Instants are microseconds since 1970 (UTC); days are YYYY-MM-DD; booleans are 0 or 1.

alter table keywords add column target_url text;

create table alert_rules (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  name text not null,
  rule text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  enabled integer not null
) strict;
create index alert_rules_of_project on alert_rules (project_id, name, id);

-- A table of its own: what loads replace, and what the journal holds, are the alerts of snapshots alone.
create table evaluated_alerts (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  type text not null,
  subject text not null,
  basis text not null,
  kind text not null,
  severity text not null check (severity in ('info', 'warning', 'critical')),
  title text not null,
  body text not null,
  date text not null,
  keyword_id text,
  url text,
  created_at integer not null,
  resolved_at integer
) strict;
create index evaluated_alerts_of_project on evaluated_alerts (project_id, created_at desc, id);
create unique index one_open_alert on evaluated_alerts (project_id, type, subject) where resolved_at is null;

-- All alerts, and whose they are.
create view all_alerts as
select id, project_id, 'snapshot' as origin, type, kind, severity, title, body, date, keyword_id, url, created_at, resolved_at
from alerts
union all
select id, project_id, 'evaluated', type, kind, severity, title, body, date, keyword_id, url, created_at, resolved_at
from evaluated_alerts;

-- How far a project has been evaluated: a replay begins behind `settled_through` with what was known then (`state`, JSON:
-- counters, open alerts and their baselines). `rules`: JSON, the first evaluated day of each rule. The revisions are
-- those of the facts and entities that the last evaluation read.
create table alert_evaluations (
  project_id text primary key references projects (id) on delete cascade,
  settled_through text not null,
  evaluated_through text not null,
  state text not null,
  rules text not null,
  facts_revision integer not null,
  entities_revision integer not null,
  evaluated_at integer not null
) strict, without rowid;
