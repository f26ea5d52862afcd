-- The newest deliveries of one channel, or of all. $channel: null for all; $limit.
select id, channel_id as channel, event, subject, state, attempts, next_at as nextAt, status, answer,
  created_at as createdAt, sent_at as sentAt
from deliveries
where cast($channel as text) is null or channel_id = $channel
order by created_at desc, id
limit $limit
