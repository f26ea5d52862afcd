-- The connections of a project. $project.
select kind, credentials, endpoint, token_endpoint as tokenEndpoint, dataset, location, archive
from connections where project_id = $project order by kind
