-- Findings that owners and admins have dismissed. `id`: a digest of project, type, country and row, so that each is
-- dismissed once. `row_kind`: page or query. The rest is what was found then, over so many `days` to the day `through`:
-- whoever asks later compares with it. `pages`: a JSON array, of split queries. Instants are microseconds.
create table dismissed_findings (
  id text primary key,
  project_id text not null references projects (id) on delete cascade,
  type text not null,
  row_kind text not null,
  row_text text not null,
  country text,
  days integer not null,
  through text not null,
  gain_clicks integer,
  gain_low integer,
  gain_high integer,
  pages text,
  author text not null,
  dismissed_at integer not null
) strict, without rowid;
create index dismissed_findings_of_project on dismissed_findings (project_id);
