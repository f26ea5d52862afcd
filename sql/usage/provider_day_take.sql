-- Counts a request of a day, if fewer than allowed were sent. $owner: its provider and property; $day; $perDay.
insert into provider_days (owner, day, requests) values ($owner, $day, 1)
on conflict (owner) do update set
  day = excluded.day,
  requests = case when provider_days.day = excluded.day then provider_days.requests + 1 else 1 end
where provider_days.day <> excluded.day or provider_days.requests < $perDay
