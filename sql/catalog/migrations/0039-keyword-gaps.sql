-- Stored days on which a keyword is unknown: it was tracked after they were stored, or was archived when they were. Without a
-- row, a keyword is known on all stored days, as one is that was tracked before this version. Days are YYYY-MM-DD; those of
-- a keyword do not overlap.
create table keyword_gaps (
  project_id text not null,
  keyword_id text not null,
  first_day text not null,
  last_day text not null,
  primary key (project_id, keyword_id, first_day),
  foreign key (project_id, keyword_id) references keywords (project_id, id) on delete cascade
) strict, without rowid;
