-- Findings that owners and admins have dismissed. `id`: a digest of project, type, country and row, so that each is
-- dismissed once. `row_kind`: page or query. The rest is what was found then, over so many `days` to the day `through`:
-- whoever asks later compares with it. `pages`: a JSON array, of split queries. Instants are microseconds.
create table dismissed_findings (
  id text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  type text collate "C" not null,
  row_kind text collate "C" not null,
  row_text text collate "C" not null,
  country text collate "C",
  days bigint not null,
  through text collate "C" not null,
  gain_clicks bigint,
  gain_low bigint,
  gain_high bigint,
  pages text collate "C",
  author text collate "C" not null,
  dismissed_at bigint not null
);
create index dismissed_findings_of_project on dismissed_findings (project_id);
