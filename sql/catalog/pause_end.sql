-- Ends the pause of a property. $kind, $property.
delete from provider_pauses where kind = $kind and property = $property
