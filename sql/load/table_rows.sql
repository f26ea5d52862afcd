-- Rows of a staged entity table, a slice at a time. $after, $limit.
select {columns} from staged_{table} where rowid > $after and rowid <= $after + $limit order by rowid
