-- Stores a ranking update as the feed has it. $id, $title, $from, $to: null until it ends, $source.
insert into ranking_updates (id, title, from_day, to_day, source) values ($id, $title, $from, $to, $source)
on conflict (id) do update set
  title = excluded.title, from_day = excluded.from_day, to_day = excluded.to_day, source = excluded.source
