-- The identity of the catalog and of its file store, and the last backup.

-- name: identity
-- The identity of the catalog and of its file store; store and address are null before both are joined.
-- rows: catalog text, store text, address text
select catalog, store, address from store_identity

-- name: join
-- Joins the catalog with a file store. $store, $address.
update store_identity set store = $store, address = $address

-- name: part
-- Makes a restored catalog another one than its original, without a file store. $catalog.
update store_identity set catalog = $catalog, store = null, address = null

-- name: last_backup
-- The last successful backup.
-- rows: target text, startedAt integer, finishedAt integer, files integer, bytes integer, copiedBytes integer
select target, started_at as startedAt, finished_at as finishedAt, files, bytes, copied_bytes as copiedBytes
from last_backup

-- name: put_last_backup
-- Replaces the last successful backup. $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes.
insert into last_backup ("only", target, started_at, finished_at, files, bytes, copied_bytes)
values (1, $target, $startedAt, $finishedAt, $files, $bytes, $copiedBytes)
on conflict ("only") do update set target = excluded.target, started_at = excluded.started_at,
  finished_at = excluded.finished_at, files = excluded.files, bytes = excluded.bytes, copied_bytes = excluded.copied_bytes
