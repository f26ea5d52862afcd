-- Stores the first inspection of a page with a state. $project, $url, $state, $clicks, $watched; $since: microseconds.
insert into inspection_changes (project_id, url, since, state, second_at, clicks, watched)
values ($project, $url, $since, $state, null, $clicks, $watched)
