/** What a docstring says of a class, and of each of its fields. */
interface Documented {
  summary: string;
  fields: Map<string, string>;
}

const SECTION = /^(Attributes|Args|Fields):\s*$/;
const OTHER_SECTION = /^[A-Z]\w+:\s*$/;
const FIELD = /^ {2,4}(\w+)(?: \([^)]*\))?: (.*)$/;

/** Reads a Google docstring: fields described in its `Attributes:` have hints without one of their own. */
export function documented(description: string): Documented {
  const lines = description.split("\n");
  const start = lines.findIndex((line) => SECTION.test(line));
  if (start < 0) return { summary: description.trim(), fields: new Map() };
  const fields = new Map<string, string>();
  let name = "";
  let end = start + 1;
  for (; end < lines.length && !OTHER_SECTION.test(lines[end] ?? ""); end++) {
    const line = lines[end] ?? "";
    const begun = FIELD.exec(line);
    if (begun) name = begun[1] ?? "";
    const said = begun ? (begun[2] ?? "") : line.trim();
    if (name && said) fields.set(name, [fields.get(name), said].filter(Boolean).join(" "));
  }
  const around = [...lines.slice(0, start), ...lines.slice(end)];
  return { summary: around.join("\n").trim(), fields };
}
