-- What is due and no sender has: the first ones of each channel that are still allowed at a time. $now: microseconds;
-- $atOnce: attempts of one channel at a time.
select id, channel, body
from (
  select d.id, d.channel_id as channel, d.body, d.created_at,
    row_number() over (partition by d.channel_id order by d.created_at, d.id) as place,
    (select count(*) from deliveries as other
      where other.channel_id = d.channel_id and other.state = 'pending' and other.claimed_until > $now) as busy
  from deliveries as d
  where d.state = 'pending' and d.next_at <= $now and (d.claimed_until is null or d.claimed_until <= $now)
) as due
where place + busy <= $atOnce
order by created_at, id
