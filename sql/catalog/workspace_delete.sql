-- Deletes a workspace; what belongs to it goes along, its projects included. $workspace.
delete from workspaces where id = $workspace
