-- The connections of a project. $project.
select kind, credentials, grant_id as "grant", endpoint, token_endpoint as tokenEndpoint, dataset, location, archive
from connections where project_id = $project order by kind
