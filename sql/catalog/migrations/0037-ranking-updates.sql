-- Ranking updates of the search engine, as its incident feed had them when it was last read. `from_day` and `to_day` are Pacific;
-- `to_day` is null until the update is rolled out.
create table ranking_updates (
  id text not null primary key,
  title text not null,
  from_day text not null,
  to_day text,
  source text not null
) strict, without rowid;
-- The last day that the feed was complete for when it was read; no row before.
create table ranking_feed (
  only integer primary key check (only = 1),
  through text not null
) strict;
