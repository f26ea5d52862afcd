-- The latest next attempt of the deliveries that wait, by the attempts that they had. $now: microseconds.
select attempts, max(next_at) as latest from deliveries
where state = 'pending' and next_at > $now group by attempts order by attempts
