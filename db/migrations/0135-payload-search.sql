-- A search finds the text of a payload as people read it: what JSON escapes stand for, and what was received.

create function without_json_escapes(content text) returns text language plpgsql immutable strict parallel safe as $$
begin
  -- First, and from left to right: `\\n` is a backslash and an n. Each step makes the next one's backslashes begin escapes.
  content := replace(content, '\\', '\u005c');
  content := replace(replace(content, '\/', '/'), '\"', '"');
  content := replace(replace(replace(content, '\n', E'\n'), '\r', E'\r'), '\t', E'\t');
  content := replace(replace(content, '\b', E'\b'), '\f', E'\f');
  if strpos(content, '\u') = 0 then return content; end if;
  -- unistr raises an error for other escapes than four digits, NUL and half a pair: their backslash stays one.
  content := regexp_replace(content, '\\(?!u[0-9A-Fa-f]{4})', '\\u005c', 'g');
  -- A pair in the other form that unistr reads. Then what is left of halves stands alone: to look behind each would take time that grows
  -- with the square of their number.
  content := regexp_replace(content, '\\u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F])', '\\\1\\\2', 'g');
  content := regexp_replace(content, '\\(?=u0000|u[dD][89a-fA-F])', '\\u005c', 'g');
  return unistr(content);
end $$;

-- Whether a payload in UTF-8 matches a LIKE pattern, whatever its letter case. The result of convert_from has the collation "C" of
-- the encoding's name, in which only ASCII letters have a case; hence the explicit collation.
create function payload_matches(body bytea, pattern text) returns boolean
language plpgsql immutable strict parallel safe cost 1000 as $$
declare
  content text := convert_from(body, 'UTF8');
begin
  return content collate "default" ilike pattern
    or (strpos(content, '\') > 0 and without_json_escapes(content) collate "default" ilike pattern);
end $$;
