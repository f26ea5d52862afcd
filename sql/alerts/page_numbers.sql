-- The numbers that stand for pages (see keyword_pages). $urls.
select u.url, (hash(split_part(u.url, '#', 1)) >> 11)::double as page from (select unnest($urls) as url) u
