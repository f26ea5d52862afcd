-- What is due and no sender has: the first ones of each channel that are still allowed at a time. A claim
-- after $latest is of a clock that was ahead. $now, $latest: microseconds; $atOnce: attempts of one channel at a time.
select id, channel, body
from (
  select d.id, d.channel_id as channel, d.body, d.created_at,
    row_number() over (partition by d.channel_id order by d.next_at, d.created_at, d.id) as rank,
    (select count(*) from deliveries as other
      where other.channel_id = d.channel_id and other.claimed_until > $now and other.claimed_until <= $latest) as busy
  from channels as c
  cross join lateral (
    select * from deliveries as first
    where first.channel_id = c.id and first.state = 'pending' and first.next_at <= $now
      and (first.claimed_until is null or first.claimed_until <= $now or first.claimed_until > $latest)
    order by first.next_at, first.created_at, first.id
    limit $atOnce
  ) as d
) as due
where rank + busy <= $atOnce
order by created_at, id
