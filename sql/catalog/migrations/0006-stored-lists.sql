-- Stored lists get a content hash, totals in constant time, and a grace period before their files are removed. How
-- often they are read moves to a separate database (usage.sqlite).

drop index lists_by_use;
alter table lists rename column basis to source_key;
alter table lists drop column used_at;
alter table lists drop column hits;
-- '' for lists that an older version stored without one.
alter table lists add column sha256 text not null default '';
delete from lists where rows = 0;
create index lists_by_source on lists (project_id, source_key);
create index lists_by_age on lists (fetched_at);

-- The number of stored lists, and their bytes.
create table list_totals (
  only integer primary key check (only = 1),
  lists integer not null,
  bytes integer not null
) strict;
insert into list_totals select 1, count(*), coalesce(sum(bytes), 0) from lists;

-- Files of lists that were replaced or dropped; requests and page sequences may still read them for a while.
create table retired_lists (
  file text primary key,
  retired_at integer not null
) strict, without rowid;

create trigger count_stored_list after insert on lists begin
  update list_totals set lists = lists + 1, bytes = bytes + new.bytes;
end;
-- Retires the file of every list that is deleted, also when its project is deleted.
create trigger retire_removed_list after delete on lists begin
  update list_totals set lists = lists - 1, bytes = bytes - old.bytes;
  insert or replace into retired_lists values (old.file, unixepoch() * 1000000);
end;
