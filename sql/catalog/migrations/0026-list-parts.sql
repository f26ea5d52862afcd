-- Lists may be parts: the queries of one page, or the pages of one query. `selection` is a hash of the part; '' for whole lists.
create table new_lists (
  file text primary key,
  project_id text not null references projects (id) on delete cascade,
  kind text not null check (kind in ('pages', 'queries')),
  first_day text not null,
  last_day text not null,
  country text not null,
  source_key text not null,
  source text not null,
  rows integer not null,
  truncated integer not null,
  capped integer not null,
  final integer not null,
  bytes integer not null,
  fetched_at integer not null,
  sha256 text not null default '',
  selection text not null default '',
  unique (project_id, kind, first_day, last_day, country, selection, source_key)
) strict, without rowid;
insert into new_lists select *, '' from lists;
drop table lists;
alter table new_lists rename to lists;
create index lists_by_source on lists (project_id, source_key);
create index lists_by_age on lists (fetched_at);
-- As before: triggers go with their table.
create trigger count_stored_list after insert on lists begin
  update list_totals set lists = lists + 1, bytes = bytes + new.bytes;
end;
create trigger retire_removed_list after delete on lists begin
  update list_totals set lists = lists - 1, bytes = bytes - old.bytes;
  insert or replace into retired_lists values (old.file, unixepoch() * 1000000);
end;
