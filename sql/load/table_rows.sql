-- A batch of rows of a staged entity table. {first}, {end}: row ids; as parameters they would be planned twice.
select {columns} from staged_{table} where rowid >= {first} and rowid < {end} order by rowid
