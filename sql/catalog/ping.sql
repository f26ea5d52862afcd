-- Does the catalog answer?
select count(*) as workspaces from workspaces
