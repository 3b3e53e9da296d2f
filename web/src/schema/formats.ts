/** What a format's texts look like, at least, and an example. The environment itself may know more forms than these. */
interface Format {
  pattern: string;
  words: string;
  example: string;
}

const DATE = "\\d{4}-\\d{2}-\\d{2}";
const TIME = "\\d{1,2}:\\d{2}(:\\d{2}([.,]\\d+)?)?( ?([zZ]|[+-]\\d{2}:?(\\d{2})?))?";
const NUMBER = "[+-]?\\d+(\\.\\d+)?";

export const FORMATS: Record<string, Format> = {
  date: { pattern: `^(${DATE}|${NUMBER}|${DATE}[T ]0+.*)$`, words: "a date", example: "2026-01-31" },
  "date-time": {
    pattern: `^(${DATE}([tT _]${TIME})?|${NUMBER})$`,
    words: "a date and time",
    example: "2026-01-31T12:30:00Z",
  },
  time: { pattern: `^(${TIME}|${NUMBER})$`, words: "a time of day", example: "12:30:00" },
  duration: {
    pattern: `^([+-]?P.+|[+-]?(\\d+ ?d(ays?)?,? ?)?(\\d+:\\d{2}(:\\d{2}(\\.\\d+)?)?)?|${NUMBER})$`,
    words: "a duration",
    example: "PT1H30M",
  },
  uuid: {
    pattern: "^(urn:uuid:|\\{)?[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}\\}?$",
    words: "a UUID",
    example: "7f1c3a52-8e0b-4a44-9c55-0d5f1f0c2b9e",
  },
  uri: { pattern: "^[a-zA-Z][a-zA-Z0-9+.\\-]*:.+$", words: "an address", example: "https://example.org" },
  email: { pattern: "@", words: "an e-mail address", example: "name@example.org" },
  base64url: { pattern: "^[A-Za-z0-9+/_=\\-\\s]*$", words: "base64", example: "SGVsbG8=" },
};
