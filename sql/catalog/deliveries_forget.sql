-- Removes deliveries that ended before an instant. $before: microseconds.
delete from deliveries where ended_at < $before
