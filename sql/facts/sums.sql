-- Sums of the rows of one table by columns, or by names of their texts. Fills: columns are d0, d1, … of a row of facts, and what
-- it counts; joins have the lists that name rows (or a statement like this one: no fill stands in a comment); days and filter
-- say which rows count; keys and groups are of d0, d1, …; sums are of what rows count; having and where say which sums are
-- rows; all has windows over all rows; page says which of them, in which order. $files: Parquet files of the table.
select r.*{all}
from (
  select
    {keys}
    {sums}
  from (
    select {columns}
    from read_parquet($files) f
    {joins}
    where {days} and {filter}
  ) f
  {groups}
  {having}
) r
{where}
{page}
