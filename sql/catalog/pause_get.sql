-- The last pause of a property at a provider. $kind, $property.
select until, reason, load_refused_on as loadRefusedOn from provider_pauses where kind = $kind and property = $property
