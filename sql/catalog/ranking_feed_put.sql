-- Stores through which day the feed was complete when it was read. $through.
insert into ranking_feed ("only", through) values (1, $through)
on conflict ("only") do update set through = excluded.through
