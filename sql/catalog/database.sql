-- The database itself.

-- name: ping
-- Does the catalog answer?
-- rows: workspaces integer
select count(*) as workspaces from workspaces

-- name: check
-- Is the catalog's file intact, and does each index have the values of its table? One row 'ok', or rows that describe the
-- damage.
-- rows: result text
select integrity_check as result from pragma_integrity_check

-- name: check (postgres)
-- One row 'ok': a server of PostgreSQL checks its own files.
-- rows: result text
select 'ok' as result

-- name: copy_into
-- Writes one consistent state of the catalog to a new file, beside readers and writers. $path.
vacuum into $path

-- name: size (postgres)
-- The bytes of all tables and their indexes.
-- rows: bytes integer
select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
where relnamespace = to_regnamespace(current_schema()) and relkind = 'r'

-- name: version (postgres)
-- The version of the catalog, which each commit raises, and the schema version of the oldest release that can use it.
-- rows: value integer, schema integer
select value, schema from catalog_version

-- name: raise_version (postgres)
-- Raises the version of the catalog, if this transaction has changed anything. Its last statement.
update catalog_version set value = value + 1 where pg_current_xact_id_if_assigned() is not null

-- name: schema (postgres)
-- The schema version of a catalog, and that of the oldest release that can use it. In version 0.2 it had one column for both.
-- rows: applied integer, oldest integer
select coalesce((to_jsonb(v) ->> 'migrations')::bigint, v.schema) as applied, v.schema as oldest from catalog_version as v

-- name: exists (postgres)
-- Is there a catalog, whole or not, where this session makes its tables?
-- rows: found integer
select 1 as found from pg_class where oid = to_regclass('catalog_version')

-- name: stop_changes (postgres)
-- Lets a catalog take no more changes: every transaction that has changed anything raises the version at its end. Waits for
-- those that have. All of it is in a schema of its own, so that dropping this is enough to allow changes again.
do $stop$
begin
  create schema catalog_was_copied;
  create table catalog_was_copied.copy (place text not null);
  create function catalog_was_copied.refuse_change() returns trigger language plpgsql as $refuse$
  begin
    raise exception using errcode = 'OR001', message = 'copied to ' || (select place from catalog_was_copied.copy);
  end
  $refuse$;
  create trigger refuse_change before update on catalog_version
    for each row execute function catalog_was_copied.refuse_change();
end
$stop$

-- name: copied (postgres)
-- The last statement of a copy: the next row of the audit trail follows the last one.
-- rows: done integer
select setval(pg_get_serial_sequence('audit', 'id'), (select coalesce(max(id), 0) + 1 from audit), false) as done

-- name: planned_files (postgres)
-- The files that loads have planned and not settled, but those to be removed again later. $at: now, in microseconds.
-- rows: file text, load text, again_at integer
select file, load, again_at from planned_files where again_at is null or again_at <= $at

-- name: add_planned_file (postgres)
-- Records a file that a load is about to write. $file; $load: the id of the load.
insert into planned_files (file, load) values ($file, $load) on conflict (file) do nothing

-- name: plan_again (postgres)
-- Keeps planned files until they are removed once more. $files: their names, a JSON array; $at: when, in microseconds.
update planned_files set again_at = $at where file in (select json_array_elements_text($files::json))

-- name: forget_planned_files (postgres)
-- Forgets files that loads have planned. $files: their names, a JSON array.
delete from planned_files where file in (select json_array_elements_text($files::json))
