-- The rows come as CSV on standard input.
copy ordinate_bench from stdin (format csv)
