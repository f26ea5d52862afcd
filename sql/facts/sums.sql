-- Sums of the rows of one table by columns, or by names of their texts. {columns}: d0, d1, … of a row of facts, and what it
-- counts; {joins}: lists that name rows; {days}: which rows are of the days; {filter}: which rows count; {keys}, {groups}: of
-- d0, d1, …; {sums}: of what rows count; {having}: which sums are rows; {all}: windows over all rows; {page}: which of them,
-- in which order. $files: Parquet files of the table; $from, $to: days.
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
{page}
