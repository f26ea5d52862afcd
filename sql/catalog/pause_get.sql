-- Until when a property is left alone. $kind, $property.
select until from provider_pauses where kind = $kind and property = $property
