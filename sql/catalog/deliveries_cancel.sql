-- Cancels what a channel has not been sent. $channel; $at: microseconds.
update deliveries set state = 'cancelled', next_at = null, ended_at = $at where channel_id = $channel and state = 'pending'
