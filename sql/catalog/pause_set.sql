-- Leaves a property alone until an instant. $kind, $property; $until: microseconds; $reason: what was refused;
-- $loadRefusedOn: the Pacific day of the last refusal over load, or null.
insert into provider_pauses (kind, property, until, reason, load_refused_on)
values ($kind, $property, $until, $reason, $loadRefusedOn)
on conflict (kind, property) do update set until = excluded.until, reason = excluded.reason,
  load_refused_on = excluded.load_refused_on
