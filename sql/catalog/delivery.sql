-- A delivery. $id.
select id, channel_id as channel, event, subject, body, state, attempts, next_at as nextAt, claim, status, answer,
  created_at as createdAt, sent_at as sentAt
from deliveries where id = $id
