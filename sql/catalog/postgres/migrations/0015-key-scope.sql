-- What a key may do besides reading reports: `sql`, or null for nothing more.
alter table keys add column scope text;
