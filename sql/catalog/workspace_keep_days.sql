-- Sets how many days of facts a workspace keeps. $id, $keepDays.
update workspaces set keep_days = $keepDays where id = $id
