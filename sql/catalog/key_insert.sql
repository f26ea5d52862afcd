-- A new key; only its hash and first characters are kept.
insert into keys (id, workspace_id, name, prefix, hash, created_at, created_by)
values ($id, $workspace, $name, $prefix, $hash, $at, $by)
