-- Rows of the catalog that a replacing load removes: rows of its workspaces and projects that it does not contain.
create or replace temp table removed_{table} as
select {columns} from old_{table} anti join new_{table} using ({key})
where {reach}
