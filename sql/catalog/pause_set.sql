-- Leaves a property alone until an instant. $kind, $property; $until: microseconds.
insert into provider_pauses values ($kind, $property, $until)
on conflict (kind, property) do update set until = max(until, excluded.until)
