-- Ranking updates of the search engine.

-- name: all
-- The ranking updates that were read of the search engine's feed, oldest first.
-- rows: id text, title text, from text, to text, source text
select id, title, from_day as "from", to_day as "to", source from ranking_updates order by from_day, id

-- name: put
-- Stores a ranking update as the feed has it. $id, $title, $from, $to: null until it ends, $source.
insert into ranking_updates (id, title, from_day, to_day, source) values ($id, $title, $from, $to, $source)
on conflict (id) do update set
  title = excluded.title, from_day = excluded.from_day, to_day = excluded.to_day, source = excluded.source

-- name: remove
-- Removes a ranking update that the feed has taken back. $id.
delete from ranking_updates where id = $id

-- name: feed
-- The last day that the search engine's feed was complete for when it was read last. No row if it never was.
-- rows: through text
select through from ranking_feed

-- name: put_feed
-- Stores through which day the feed was complete when it was read. $through.
insert into ranking_feed ("only", through) values (1, $through)
on conflict ("only") do update set through = excluded.through
