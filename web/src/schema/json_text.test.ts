import { expect, it } from "vitest";
import { parseJson } from "./json_text";

it("reads JSON", () => {
  expect(parseJson(' {"a": [1, 2.5, 1e3, -0.1, 9007199254740993e0, "12345678901234567890"]} ')).toMatchObject(
    {
      value: { a: [1, 2.5, 1000, -0.1, 9007199254740992, "12345678901234567890"] },
    },
  );
});

it.each([
  ['{\n  "a": 1,\n  "b": }', "a value is expected, found }", 3],
  ['{\n  "a": 1', "a comma is expected, found nothing more", 2],
  ["", "a value is expected, found nothing more", 1],
  ['{"a": 1}\nx', "the end is expected, found x", 2],
  ["{\n\n'a': 1}", "a name in double quotes is expected, found 'a':", 3],
  ['{"a": [1,\n]}', "a value is expected, found ]}", 2],
  ['{"a": {},\n}', "a name in double quotes is expected, found }", 2],
  ['{"a" 1}', "a colon is expected, found 1}", 1],
  ['[[], {}, "\\u00e9", tru]', "a value is expected, found tru]", 1],
  ['["line\nbreak"]', 'a value is expected, found "line', 1],
  ["[01]", "a value is expected, found 01]", 1],
  ["[NaN]", "a value is expected, found NaN]", 1],
])("says where %j stops being JSON", (text, error, line) => {
  expect(parseJson(text)).toEqual({ error, line });
});

it("refuses numbers that it would change", () => {
  expect(parseJson('{\n"a": 9007199254740993}')).toEqual({
    error: "9007199254740993 is too large to be sent exactly as a number: write it in quotes",
    line: 2,
  });
  expect(parseJson("1e400").error).toContain("too large");
  expect(parseJson("9007199254740992")).toEqual({ value: 9007199254740992 });
});
