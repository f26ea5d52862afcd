-- Makes the table of the rows of an answer, in their order. {columns}: their names with VARCHAR or DOUBLE.
create temp table answer_rows ({columns}, row_number double)
