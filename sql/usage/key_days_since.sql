-- The days on which keys were used. $since: a day.
select id, day, requests, last_at as lastAt from key_days where day >= $since order by day desc, id
