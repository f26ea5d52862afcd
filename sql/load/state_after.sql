-- The rows that exist after the load: rows of the catalog that it neither replaces nor removes, and its own. The `kept`
-- part excludes the rows that a replacing load removes.
create or replace temp table all_{table} as
select {columns} from old_{table} anti join new_{table} using ({key}){kept}
union all
select {columns} from new_{table}
