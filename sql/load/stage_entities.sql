-- The entity rows of the snapshot, cast, with the wrong columns of each row.
create temp table staged_{table} as {rows}
