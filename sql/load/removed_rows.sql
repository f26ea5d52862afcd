-- Rows of the catalog that a replacing load removes: those in its reach that it does not carry.
create temp table removed_{table} as
select {columns} from old_{table} anti join new_{table} using ({key})
where {reach}
