-- The ranking updates that were read of the search engine's feed, oldest first.
select id, title, from_day as "from", to_day as "to", source from ranking_updates order by from_day, id
