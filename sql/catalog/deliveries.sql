-- What is sent to channels, and which verdicts their digests have listed.

-- name: of_channel
-- The newest deliveries of a channel. $channel, $limit.
-- rows: id text, channel text, event text, subject text, state text, attempts integer, nextAt integer, status integer,
--   answer text, createdAt integer, sentAt integer
select id, channel_id as channel, event, subject, state, attempts, next_at as nextAt, status, answer,
  created_at as createdAt, sent_at as sentAt
from deliveries
where channel_id = $channel
order by created_at desc, id
limit $limit

-- name: one
-- A delivery. $id.
-- rows: id text, channel text, event text, subject text, body text, state text, attempts integer, nextAt integer,
--   claim text, status integer, answer text, createdAt integer, sentAt integer
select id, channel_id as channel, event, subject, body, state, attempts, next_at as nextAt, claim, status, answer,
  created_at as createdAt, sent_at as sentAt
from deliveries where id = $id

-- name: add
-- Adds a delivery, unless it is known. $id, $channel, $event, $subject, $body; $nextAt, $createdAt: microseconds.
insert into deliveries (id, channel_id, event, subject, body, state, attempts, next_at, created_at)
values ($id, $channel, $event, $subject, $body, 'pending', 0, $nextAt, $createdAt)
on conflict (id) do nothing

-- name: due
-- What is due and no sender has: the first ones of each channel that are still allowed at a time. A claim
-- after $latest is of a clock that was ahead. $now, $latest: microseconds; $atOnce: attempts of one channel at a time.
-- rows: id text, channel text, body text
select id, channel, body
from (
  select d.id, d.channel_id as channel, d.body, d.created_at,
    row_number() over (partition by d.channel_id order by d.next_at, d.created_at, d.id) as rank,
    (select count(*) from deliveries as other
      where other.channel_id = d.channel_id and other.claimed_until > $now and other.claimed_until <= $latest) as busy
  from channels as c
  join deliveries as d on d.id in (
    select first.id from deliveries as first
    where first.channel_id = c.id and first.state = 'pending' and first.next_at <= $now
      and (first.claimed_until is null or first.claimed_until <= $now or first.claimed_until > $latest)
    order by first.next_at, first.created_at, first.id
    limit $atOnce
  )
) as due
where rank + busy <= $atOnce
order by created_at, id

-- name: due (postgres)
-- What is due and no sender has: the first ones of each channel that are still allowed at a time. A claim
-- after $latest is of a clock that was ahead. $now, $latest: microseconds; $atOnce: attempts of one channel at a time.
-- rows: id text, channel text, body text
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

-- name: pending
-- How many deliveries wait to be sent, and when the first of them was due, in microseconds; null without any. $now: microseconds.
-- rows: pending integer, dueSince integer
select count(*) as pending, min(case when next_at <= $now then next_at end) as dueSince
from deliveries where state = 'pending'

-- name: waiting
-- The latest next attempt of the deliveries that wait, by the attempts that they had. $now: microseconds.
-- rows: attempts integer, latest integer
select attempts, max(next_at) as latest from deliveries
where state = 'pending' and next_at > $now group by attempts order by attempts

-- name: claim
-- Claims a delivery for a sender. $id, $claim; $until: microseconds; $body: as it is sent.
update deliveries set claim = $claim, claimed_until = $until, body = $body where id = $id

-- name: renew
-- Keeps a claim for longer. $id, $claim; $until: microseconds.
update deliveries set claimed_until = $until where id = $id and claim = $claim

-- name: end_attempt
-- Stores the end of an attempt, or of a delivery. $id, $state, $attempts, $nextAt, $status, $answer, $sentAt, $endedAt.
update deliveries set state = $state, attempts = $attempts, next_at = $nextAt, claim = null, claimed_until = null,
  status = $status, answer = $answer, sent_at = $sentAt, ended_at = $endedAt
where id = $id

-- name: hasten
-- Makes deliveries due that wait for longer than they should. $attempts: that they had; $latest, $now: microseconds.
update deliveries set next_at = $now where state = 'pending' and attempts = $attempts and next_at > $latest

-- name: cancel
-- Cancels what a channel has not been sent. $channel; $at: microseconds.
update deliveries set state = 'cancelled', next_at = null, ended_at = $at where channel_id = $channel and state = 'pending'

-- name: ended
-- Whether deliveries ended before an instant. $before: microseconds.
-- rows: found integer
select 1 as found from deliveries where ended_at < $before order by ended_at limit 1

-- name: forget
-- Removes the first deliveries that ended before an instant. $before: microseconds; $limit.
delete from deliveries
where id in (select id from deliveries where ended_at < $before order by ended_at limit $limit)

-- name: verdicts
-- The notes whose verdicts the digests of a channel have listed. $channel, $event.
-- rows: note text
select note_id as note from digest_verdicts where channel_id = $channel and event = $event

-- name: add_verdict
-- Notes that a digest has listed the verdict on a change. $channel, $event, $note.
insert into digest_verdicts (channel_id, event, note_id) values ($channel, $event, $note)
on conflict (channel_id, event, note_id) do nothing
