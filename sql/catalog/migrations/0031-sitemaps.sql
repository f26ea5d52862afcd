-- The sitemaps of a connected project, as the search engine last told them of `property`. `sitemaps`: a JSON array, null
-- before the first answer. `reason`: why the last request failed. Instants are microseconds.
create table sitemaps (
  project_id text primary key references projects (id) on delete cascade,
  property text not null,
  sitemaps text,
  fetched_at integer,
  reason text,
  due_at integer not null
) strict, without rowid;
