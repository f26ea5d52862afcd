-- The requests of a day that were sent. $owner: its provider and property; $day.
select requests from provider_days where owner = $owner and day = $day
