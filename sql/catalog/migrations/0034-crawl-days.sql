-- What the crawler of a search engine did on a day, as it was last told of `property`. `counts`: a JSON object. Days that are no
-- longer told stay.
create table crawl_days (
  project_id text not null references projects (id) on delete cascade,
  property text not null,
  day text not null,
  counts text not null,
  primary key (project_id, property, day)
) strict, without rowid;
