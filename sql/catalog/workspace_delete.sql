-- Deletes a workspace and everything that belongs to it, including its projects. $workspace.
delete from workspaces where id = $workspace
