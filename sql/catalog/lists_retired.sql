-- Files of retired lists, the oldest first. $before: retired before this instant (microseconds).
select file, retired_at as retiredAt from retired_lists where retired_at < $before order by retired_at
