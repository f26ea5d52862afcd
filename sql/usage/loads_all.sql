-- What loads did, by kind.
select kind, published, rejected, failed, rows, seconds, last_at as lastAt, last_rows as lastRows,
  last_seconds as lastSeconds from loads order by kind
