-- Encrypts a value again. {table}, {column}; {row}: the column that identifies a row; $id: its value; $sealed.
update {table} set {column} = $sealed where {row} = $id
