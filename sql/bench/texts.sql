-- Creates bench_texts: a query text for each number; the number at its end makes it unique. $seed: text; $count: how
-- many.
create or replace temp table bench_texts as
with dice as (select number, hash($seed, 'text', number) as dice from unnest(range($count::bigint)) as numbers(number))
select
  number,
  concat_ws(' ',
    ['buy', 'cheap', 'best', 'how to clean', 'what is', 'second hand', 'vintage', 'acme'][1 + (dice % 8)::int],
    ['running shoes', 'rain coat', 'espresso machine', 'garden chair', 'bread knife', 'road bike', 'desk lamp',
      'wool scarf', 'camping stove', 'café table', 'kids helmet', 'yoga mat'][1 + ((dice >> 8) % 12)::int],
    ['blue', 'size 41', 'for beginners', 'near me', 'review', 'price', 'under 100', 'repair'][1 + ((dice >> 16) % 8)::int],
    number::varchar
  ) as text
from dice
