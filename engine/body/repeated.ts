// The bound for text that parsers repeat. The name of a JSON or XML value contains the names of all its parents. The
// text of an XML element contains the text of its children. Without a bound, one key of 400 KB above a thousand values
// makes 400 MB out of a body of 500 KB. With a bound of 1 MiB, 12 KB of brackets (75 bytes on the wire) made 360 KB of
// names, and their inspection cost 37 ms.

const free = 96 * 1024; // a thousand names of a hundred characters
const shortBody = 64 * 1024;
const perByteBeyond = 4;

/**
 * Maximum bytes of names (JSON, XML) or of nested text (XML) in total, for a body of `bodyBytes` bytes. A body that
 * exceeds it is refused like one with too many arguments (CWE-400).
 */
export const repeatedBytesMax = (bodyBytes: number): number =>
  free + Math.max(0, bodyBytes - shortBody) * perByteBeyond;
