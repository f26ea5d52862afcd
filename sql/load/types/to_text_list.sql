-- A list of texts, as a JSON array of at most 1 MB.
create macro if not exists to_text_list(x) as case
  when json_type(as_json_text(x, 1048576)) = 'ARRAY'
    and not list_contains(
      list_transform(json_extract(as_json_text(x, 1048576), '$[*]'), e -> json_type(e) = 'VARCHAR'), false)
  then as_json_text(x, 1048576)
end
