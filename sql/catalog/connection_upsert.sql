-- Sets a project's connection to one kind of provider, in place of the one that is there. $project; $kind: the kind of
-- provider; $credentials: a file, or null; $grant: of the workspace, or null; $endpoint,
-- $tokenEndpoint: addresses, or null; $dataset, $location: of a warehouse, or null; $archive: what it keeps of queries and
-- pages; $at: microseconds.
insert into connections (
  project_id, kind, credentials, grant_id, endpoint, token_endpoint, dataset, location, archive, changed_at
)
values ($project, $kind, $credentials, $grant, $endpoint, $tokenEndpoint, $dataset, $location, $archive, $at)
on conflict (project_id, kind) do update set credentials = excluded.credentials,
  grant_id = excluded.grant_id, endpoint = excluded.endpoint,
  token_endpoint = excluded.token_endpoint, dataset = excluded.dataset, location = excluded.location,
  archive = excluded.archive, changed_at = excluded.changed_at
