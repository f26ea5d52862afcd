-- Removes the first deliveries that ended before an instant. $before: microseconds; $limit.
delete from deliveries
where id in (select id from deliveries where ended_at < $before order by ended_at limit $limit)
