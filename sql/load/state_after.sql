-- What exists after the load: rows of the catalog that it neither replaces nor removes, and its own. What is kept: those
-- that it does not remove, where it replaces the table.
create temp table all_{table} as
select {columns} from old_{table} anti join new_{table} using ({key}){kept}
union all
select {columns} from new_{table}
