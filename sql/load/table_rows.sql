-- A batch of rows of a staged entity table. $after: the last row id read; $limit.
select {columns} from staged_{table} where rowid > $after and rowid <= $after + $limit order by rowid
