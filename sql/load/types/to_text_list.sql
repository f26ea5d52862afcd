-- A list of texts, as a JSON text.
create temp macro to_text_list(x) as case
  when json_type(to_json_text(x)) = 'ARRAY'
    and not list_contains(list_transform(json_extract(to_json_text(x), '$[*]'), e -> json_type(e) = 'VARCHAR'), false)
  then to_json_text(x)
end
