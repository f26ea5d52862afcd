-- Makes deliveries due that wait for longer than they should. $attempts: that they had; $latest, $now: microseconds.
update deliveries set next_at = $now where state = 'pending' and attempts = $attempts and next_at > $latest
