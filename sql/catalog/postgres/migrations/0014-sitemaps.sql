-- The sitemaps of a connected project, as the search engine last told them of `property`. `sitemaps`: a JSON array, null
-- before the first answer. `reason`: why the last request failed. Instants are microseconds.
create table sitemaps (
  project_id text collate "C" primary key references projects (id) on delete cascade,
  property text collate "C" not null,
  sitemaps text collate "C",
  fetched_at bigint,
  reason text collate "C",
  due_at bigint not null
);
