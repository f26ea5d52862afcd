-- What exists after the load: rows of the catalog that it neither replaces nor removes, and its own.
create temp table all_{table} as
select {columns} from old_{table} anti join new_{table} using ({key}) anti join removed_{table} using ({key})
union all
select {columns} from new_{table}
