import Prism from "prismjs/components/prism-core";
import "prismjs/components/prism-markup";
import "prismjs/components/prism-clike";
import "prismjs/components/prism-javascript";
import "prismjs/components/prism-python";
import "prismjs/components/prism-json";
import "prismjs/components/prism-bash";
import "prismjs/components/prism-sql";

Prism.manual = true;

/** A piece of code, and what it is ("" for nothing in particular). */
export interface Piece {
  type: string;
  content: string | Piece[];
}

/** The longest code that is coloured, in characters. */
export const LONGEST = 50_000;
/** The same of grammars that hostile text can make slow: their time grows with the square of it. */
const LONGEST_OF: Record<string, number> = { bash: 20_000, markup: 10_000, javascript: 6_000 };

/** The pieces of a code; all of it in one where the language is not known, or the code too long to colour. */
export function pieces(text: string, language: string): Piece[] {
  const grammar = Object.hasOwn(Prism.languages, language) ? Prism.languages[language] : undefined;
  if (text.length > (LONGEST_OF[language] ?? LONGEST) || typeof grammar !== "object")
    return [{ type: "", content: text }];
  return Prism.tokenize(text, grammar).map(piece);
}

function piece(token: string | Prism.Token): Piece {
  if (typeof token === "string") return { type: "", content: token };
  const { type, content } = token;
  if (typeof content === "string") return { type, content };
  return { type, content: (Array.isArray(content) ? content : [content]).map(piece) };
}
