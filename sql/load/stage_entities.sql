-- Entity rows as the snapshot has them, cast, and whether each is wrong.
create temp table staged_{table} as {rows}
