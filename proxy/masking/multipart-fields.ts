// Values of multipart fields, complete or cut off, found in one pass: an expression that reads the rest of the line for
// every `name="` on it needs the square of the line's length (256 KB: 6.6 s).

/** Gets name and value, returns what stands there instead of the value. */
export type MaskValue = (name: string, value: string) => string;

const begin = 'name="';
const nameCharsMax = 100;
/** Of a part's head behind the line with the name. */
const headLinesMax = 6;
const headLineCharsMax = 300;

const isBreak = (code: number): boolean => code === 13 || code === 10;

/** Where the line ends that `at` is on: the place of the first CR or LF, or the end of the text. */
function endOfLine(text: string, at: number): number {
  while (at < text.length && !isBreak(text.charCodeAt(at))) at++;
  return at;
}

/** Behind the CRLF or LF at `at`; -1 when there is none. */
function behindBreak(text: string, at: number): number {
  const lf = text.charCodeAt(at) === 13 ? at + 1 : at;
  return text.charCodeAt(lf) === 10 ? lf + 1 : -1;
}

/** Where the name that begins at `at` ends; -1 when it is empty, too long, or does not end on its line. */
function endOfName(text: string, at: number): number {
  for (let end = at; end <= at + nameCharsMax && end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 34) return end === at ? -1 : end;
    if (isBreak(code)) return -1;
  }
  return -1;
}

/** Where the part's value begins, given the end of the line with its name; -1 when no head of a part follows. */
function beginOfValue(text: string, lineEnd: number): number {
  let line = behindBreak(text, lineEnd);
  for (let lines = 0; line >= 0 && lines <= headLinesMax; lines++) {
    const empty = behindBreak(text, line);
    if (empty >= 0) return empty;
    const end = endOfLine(text, line);
    if (end - line > headLineCharsMax) return -1;
    line = behindBreak(text, end);
  }
  return -1;
}

/** Linear in the length of the text: a line is read once for all names on it. */
export function maskMultipartFields(text: string, mask: MaskValue): string {
  let done = '';
  let from = 0;
  for (let at = text.indexOf(begin); at >= 0; ) {
    const nameAt = at + begin.length;
    const nameEnd = endOfName(text, nameAt);
    if (nameEnd < 0) {
      at = text.indexOf(begin, nameAt);
      continue;
    }
    const lineEnd = endOfLine(text, nameEnd);
    const valueAt = beginOfValue(text, lineEnd);
    const valueEnd = valueAt < 0 ? lineEnd : endOfLine(text, valueAt);
    if (valueAt >= 0) {
      done += `${text.slice(from, valueAt)}${mask(text.slice(nameAt, nameEnd), text.slice(valueAt, valueEnd))}`;
      from = valueEnd;
    }
    // whatever else has a name on this line has the same head, or none
    at = text.indexOf(begin, valueEnd);
  }
  return from === 0 ? text : done + text.slice(from);
}
