-- How many deliveries wait to be sent, and when the first of them was due, in microseconds; null without any. $now: microseconds.
select count(*) as pending, min(case when next_at <= $now then next_at end) as dueSince
from deliveries where state = 'pending'
