-- Whether deliveries ended before an instant. $before: microseconds.
select 1 as found from deliveries where ended_at < $before order by ended_at limit 1
