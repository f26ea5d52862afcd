-- Ends the pause of a project's property at a provider. $project, $kind.
delete from provider_pauses where kind = $kind and property = (select property from projects where id = $project)
