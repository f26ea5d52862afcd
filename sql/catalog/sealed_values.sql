-- The encrypted values of a column. {table}, {column}; {row}: the column that identifies a row.
select {row} as id, {column} as sealed from {table} where {column} is not null order by {row}
