-- Facts and entities get a revision each, so that a load raises only what it changed. The number of tracked keywords is
-- stored, so that requests need not count them. An `entities_revision` of 0 marks a project that is being created.
alter table projects rename column revision to facts_revision;
alter table projects add column entities_revision integer not null default 0;
alter table projects add column tracked_keywords integer not null default 0;
update projects set entities_revision = facts_revision,
  tracked_keywords = (select count(*) from keywords k where k.project_id = projects.id and k.archived = 0);
