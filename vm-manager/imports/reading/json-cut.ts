// A JSON file whose one large list is read element by element. The bytes are followed by structure only (strings,
// brackets, names); each element, and what is left of the document without them, is then parsed by JSON.parse, which
// has the last word about what is JSON. A library was weighed (stream-json): its authors say that it is not for hostile
// input, and it makes an object of each token.
import { ApiError } from '#http-kit';

export interface CutRules {
  /** `['runs', '*', 'results', '*']`: names of objects, and `*` for each element of a list. */
  readonly path: readonly string[];
  readonly elementBytesMax: number;
  /** Of the document without the elements. */
  readonly restBytesMax: number;
  readonly depthMax: number;
  /** Elements are checked and passed over: only where they lie is noted, of at most so many. */
  readonly spansMax?: number;
}

export interface Cut {
  /** Indices of the lists on the way, outermost first. */
  readonly at: readonly number[];
  readonly text: string;
}

/** Where elements lie in a document, in its order: a few numbers each, as there are a hundred thousand of them. */
export class Spans {
  count = 0;
  private readonly numbers: number[] = [];
  private readonly stride: number;

  /** `depth`: lists on the way to an element. */
  constructor(depth: number) {
    this.stride = 2 + depth;
  }

  add(begin: number, end: number, at: readonly number[]): void {
    this.numbers.push(begin, end, ...at);
    this.count++;
  }
  /** In bytes from the beginning of the document, and the end is not of it. */
  begin(index: number): number {
    return this.numbers[index * this.stride] ?? 0;
  }
  end(index: number): number {
    return this.numbers[index * this.stride + 1] ?? 0;
  }
  at(index: number): readonly number[] {
    return this.numbers.slice(index * this.stride + 2, (index + 1) * this.stride);
  }
}

interface Level {
  readonly isList: boolean;
  index: number;
  name: string;
  /** Steps of the path that lead here; -1: off the path. */
  readonly steps: number;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket, comma, colon] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a,
] as const;
const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Where the first quote or backslash is, or the end. */
function endOfText(chunk: Buffer, from: number): number {
  let at = from;
  while (at < chunk.length && chunk[at] !== quote && chunk[at] !== backslash) at++;
  return at;
}

/** Feed it the bytes in pieces; `push` gives the elements that ended in the piece. Throws ApiError 400, 413. */
export class JsonCutter {
  /** With `spansMax` instead of the elements. */
  readonly spans: Spans;
  /** Of the document, before the piece. */
  private bytesBefore = 0;
  private elementBegin = 0;
  private readonly rules: CutRules;
  private readonly levels: Level[] = [];
  private inString = false;
  private isEscaped = false;
  private isName = false;
  private name = '';
  private readonly kept: Buffer[] = [];
  private keptBytes = 0;
  private element: Buffer[] | null = null;
  private elementBytes = 0;
  private elementDepth = 0;

  constructor(rules: CutRules) {
    this.rules = rules;
    this.spans = new Spans(rules.path.filter((step) => step === '*').length);
  }

  push(chunk: Buffer): Cut[] {
    const found: Cut[] = [];
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk[i] ?? 0;
      if (this.inString) {
        if (this.isName || this.isEscaped || code === quote || code === backslash) this.stringByte(code);
        // most bytes of a report are of texts: they are passed over without a call each
        else i = endOfText(chunk, i) - 1;
        continue;
      }
      if (isSpace(code)) continue;
      if (this.element === null && this.beginsElement(code)) {
        this.keep(chunk.subarray(from, i));
        from = i;
        this.element = [];
        this.elementBegin = this.bytesBefore + i;
        this.elementBytes = 0;
        this.elementDepth = this.levels.length;
      } else if (this.element !== null && this.endsElement(code)) {
        if (this.rules.spansMax !== undefined) this.passElement(i - from, this.bytesBefore + i);
        else found.push(this.endElement(chunk.subarray(from, i)));
        from = i;
        // the comma between two elements goes with them
        if (code === comma) from = i + 1;
      }
      this.structure(code);
    }
    if (this.element === null) this.keep(chunk.subarray(from));
    else this.keepElement(chunk.subarray(from));
    this.bytesBefore += chunk.length;
    return found;
  }

  /** The document with the list empty, as text. Throws ApiError 400 where the file ends in the middle. */
  end(): string {
    if (this.levels.length > 0 || this.inString || this.element !== null)
      throw new ApiError('malformed_request', 'The report ends in the middle of its JSON.');
    return Buffer.concat(this.kept).toString('utf8');
  }

  private stringByte(code: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (code === backslash) this.isEscaped = true;
    else if (code === quote) {
      this.inString = false;
      return;
    }
    if (this.isName && this.name.length < 64) this.name += String.fromCharCode(code);
  }

  private beginsElement(code: number): boolean {
    const top = this.levels.at(-1);
    return (
      top !== undefined &&
      top.isList &&
      top.steps === this.rules.path.length - 1 &&
      code !== comma &&
      code !== closeBracket
    );
  }

  private endsElement(code: number): boolean {
    return this.levels.length === this.elementDepth && (code === comma || code === closeBracket);
  }

  private endElement(last: Buffer): Cut {
    this.weigh(last.length);
    const before = this.element ?? [];
    this.element = null;
    // most elements lie within one piece of the file
    const text = before.length === 0 ? last.toString('utf8') : Buffer.concat([...before, last]).toString('utf8');
    return { at: this.indices(), text };
  }

  private indices(): number[] {
    const at: number[] = [];
    for (const { isList, index } of this.levels) if (isList) at.push(index);
    return at;
  }

  private structure(code: number): void {
    const top = this.levels.at(-1);
    if (code === quote) {
      this.inString = true;
      this.isName = top !== undefined && !top.isList && top.name === '';
      if (this.isName) this.name = '';
    } else if (code === colon && top !== undefined && !top.isList) top.name = `${this.name}:`;
    else if (code === comma && top !== undefined) {
      top.index++;
      top.name = '';
    } else if (code === openBrace || code === openBracket) this.open(code === openBracket, top);
    else if (code === closeBrace || code === closeBracket) {
      if (top === undefined || top.isList !== (code === closeBracket))
        throw new ApiError('malformed_request', 'The report is no JSON: its brackets do not fit.');
      this.levels.pop();
    }
  }

  private open(isList: boolean, top: Level | undefined): void {
    if (this.levels.length >= this.rules.depthMax)
      throw new ApiError('nested_too_deep', `The report nests deeper than ${this.rules.depthMax} levels.`);
    const wanted = top === undefined ? undefined : this.rules.path[top.steps];
    const isOnPath = top !== undefined && top.steps >= 0 && (top.isList ? wanted === '*' : `${wanted}:` === top.name);
    this.levels.push({ isList, index: 0, name: '', steps: top === undefined ? 0 : isOnPath ? top.steps + 1 : -1 });
  }

  private keep(piece: Buffer): void {
    this.keptBytes += piece.length;
    if (this.keptBytes > this.rules.restBytesMax)
      throw new ApiError(
        'body_too_large',
        `The report has more than ${this.rules.restBytesMax} bytes beside its results.`,
      );
    if (piece.length > 0) this.kept.push(Buffer.from(piece));
  }

  private keepElement(piece: Buffer): void {
    this.weigh(piece.length);
    if (piece.length > 0 && this.rules.spansMax === undefined) this.element?.push(Buffer.from(piece));
  }

  private passElement(bytes: number, end: number): void {
    this.weigh(bytes);
    this.element = null;
    if (this.spans.count === this.rules.spansMax)
      throw new ApiError('body_too_large', `The report has more than ${this.rules.spansMax} results; split it.`);
    this.spans.add(this.elementBegin, end, this.indices());
  }

  private weigh(bytes: number): void {
    this.elementBytes += bytes;
    if (this.elementBytes > this.rules.elementBytesMax)
      throw new ApiError(
        'body_too_large',
        `A result of the report is larger than ${this.rules.elementBytesMax} bytes.`,
      );
  }
}
