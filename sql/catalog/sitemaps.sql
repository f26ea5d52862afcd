-- What is known of the sitemaps of a project's property. $project, $property.
select sitemaps, fetched_at as "fetchedAt", reason from sitemaps where project_id = $project and property = $property
