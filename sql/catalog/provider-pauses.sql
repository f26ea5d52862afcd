-- Properties that are left alone for a while, because a provider refused requests.

-- name: one
-- The last pause of a property at a provider. $kind, $property.
-- rows: until integer, reason text, loadRefusedOn text
select until, reason, load_refused_on as loadRefusedOn from provider_pauses where kind = $kind and property = $property

-- name: put
-- Leaves a property alone until an instant. $kind, $property; $until: microseconds; $reason: what was refused;
-- $loadRefusedOn: the Pacific day of the last refusal over load, or null.
insert into provider_pauses (kind, property, until, reason, load_refused_on)
values ($kind, $property, $until, $reason, $loadRefusedOn)
on conflict (kind, property) do update set until = excluded.until, reason = excluded.reason,
  load_refused_on = excluded.load_refused_on

-- name: end
-- Ends the pause of a project's property at a provider. $project, $kind.
delete from provider_pauses where kind = $kind and property = (select property from projects where id = $project)
