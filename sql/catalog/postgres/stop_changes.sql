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
