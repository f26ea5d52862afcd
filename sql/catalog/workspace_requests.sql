-- Sets how many requests each key of a workspace may send in a minute. $id; $requests: null for the default.
update workspaces set requests_per_minute = $requests where id = $id
