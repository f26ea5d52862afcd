-- The keyword facts of one project, for PostgreSQL.
create table ordinate_bench (
  keyword_id text not null, date date not null, device text not null,
  clicks integer not null, impressions integer not null, sum_position bigint not null
)
