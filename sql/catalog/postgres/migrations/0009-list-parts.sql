-- Lists may be parts: the queries of one page, or the pages of one query. `selection` is a hash of the part; '' for whole lists.
create table new_lists (
  file text collate "C" primary key,
  project_id text collate "C" not null references projects (id) on delete cascade,
  kind text collate "C" not null check (kind in ('pages', 'queries')),
  first_day text collate "C" not null,
  last_day text collate "C" not null,
  country text collate "C" not null,
  source_key text collate "C" not null,
  source text collate "C" not null,
  rows bigint not null,
  truncated bigint not null,
  capped bigint not null,
  final bigint not null,
  bytes bigint not null,
  fetched_at bigint not null,
  sha256 text collate "C" not null default '',
  selection text collate "C" not null default '',
  unique (project_id, kind, first_day, last_day, country, selection, source_key)
);
insert into new_lists select *, '' from lists;
drop view list_totals;
drop table lists;
alter table new_lists rename to lists;
create index lists_by_age on lists (fetched_at);
create index lists_by_source on lists (project_id, source_key);
create trigger retire_removed_list after delete on lists for each row execute function retire_list();
create view list_totals as
select 1::bigint as "only", count(*) as lists, coalesce(sum(bytes), 0)::bigint as bytes from lists;
