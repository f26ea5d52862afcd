-- Writes the exported rows of an entity table. {columns}; {key}; {format}: of the file. $target.
copy (select {columns} from exported_rows order by {key}) to $target ({format})
