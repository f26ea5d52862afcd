-- The newest deliveries of a channel. $channel, $limit.
select id, channel_id as channel, event, subject, state, attempts, next_at as nextAt, status, answer,
  created_at as createdAt, sent_at as sentAt
from deliveries
where channel_id = $channel
order by created_at desc, id
limit $limit
