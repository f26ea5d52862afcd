-- Adds a delivery, unless it is known. $id, $channel, $event, $subject, $body; $nextAt, $createdAt: microseconds.
insert into deliveries (id, channel_id, event, subject, body, state, attempts, next_at, created_at)
values ($id, $channel, $event, $subject, $body, 'pending', 0, $nextAt, $createdAt)
on conflict (id) do nothing
