-- Entity rows as the snapshot has them, cast, with what is wrong with each.
create temp table staged_{table} as {rows}
