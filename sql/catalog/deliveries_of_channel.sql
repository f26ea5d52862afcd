-- The newest deliveries of one channel, or of all. Those of a channel are found by an index, however many there are.
-- $channel: null for all; $limit.
select d.id, d.channel_id as channel, d.event, d.subject, d.state, d.attempts, d.next_at as nextAt, d.status, d.answer,
  d.created_at as createdAt, d.sent_at as sentAt
from channels as c
join deliveries as d on d.id in (
  select newest.id from deliveries as newest where newest.channel_id = c.id order by newest.created_at desc, newest.id limit $limit
)
where cast($channel as text) is null or c.id = $channel
order by d.created_at desc, d.id
limit $limit
