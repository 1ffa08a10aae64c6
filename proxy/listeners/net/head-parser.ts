// The head of a request (RFC 9112 sections 2 to 5), pushed in as it arrives: one pass over the bytes, each looked at
// once however many pieces they come in. Strict where two parsers could read two things (bare CR or LF, a space before
// the colon, a folded line, control characters): the upstream behind us would be the second parser. Where llhttp reads
// otherwise, llhttp-differences.ts says so with the section that lets this parser refuse.
import { isTokenByte } from '../../http/header-fields.js';
import type { SyntaxLimits } from '../../http/request-syntax.js';
import { FieldMemory } from './field-memory.js';

/** Why these bytes are not taken; the status is that of the answer. */
export interface HeadFault {
  readonly status: 400 | 414 | 431 | 505;
  readonly reason: string;
}

/** What was read, also when a fault ended it: then the fields before the one with the fault. */
export interface ParsedHead {
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  /** Flat [name, value, …] in wire order, latin1, values without the white space around them. */
  readonly headers: string[];
}

const enum State {
  /** Nothing but an empty line has come. */
  Start,
  StartLf,
  Method,
  Target,
  Version,
  VersionLf,
  Line,
  Name,
  ValueStart,
  Value,
  ValueLf,
  EndLf,
  Done,
  Fault,
}

const TAB = 9;
const LF = 10;
const CR = 13;
const SPACE = 0x20;
const COLON = 0x3a;

const methodBytesMax = 32;
const versionBytes = 8; // HTTP/1.1
const isToken = 1;
const isTarget = 2;
const isFieldText = 4;

/** What each byte may be part of. */
const classes = Uint8Array.from({ length: 256 }, (_, code) => {
  const isVisible = code > SPACE && code !== 0x7f;
  return (
    (isTokenByte(code) ? isToken : 0) |
    (isVisible ? isTarget : 0) |
    (isVisible || code === SPACE || code === TAB ? isFieldText : 0)
  );
});

export class HeadParser {
  fault: HeadFault | null = null;
  private state = State.Start;
  /** The next byte to look at, from the beginning of what came for this head. */
  private at = 0;
  /** Where the part that is being read begins. */
  private mark = 0;
  private methodStart = 0;
  private methodEnd = 0;
  private targetEnd = 0;
  private versionEnd = 0;
  private fieldsStart = 0;
  /** Of each field: where its name begins and ends, where its value does. */
  private readonly marks: number[] = [];
  private markCount = 0;
  /** What came in earlier pieces, with room behind it. */
  private held: Buffer | null = null;
  private heldBytes = 0;

  /** `fields`: shared by all parsers of a thread. */
  constructor(
    private readonly limits: () => SyntaxLimits,
    private readonly fields = new FieldMemory(),
  ) {}

  get isDone(): boolean {
    return this.state === State.Done;
  }

  /** Bytes of a head have come. */
  get isBegun(): boolean {
    return this.state !== State.Start || this.heldBytes > 0;
  }

  /** For the next head of the connection. */
  reset(): void {
    this.state = State.Start;
    this.fault = null;
    this.at = 0;
    this.mark = 0;
    this.methodEnd = 0;
    this.targetEnd = 0;
    this.versionEnd = 0;
    this.fieldsStart = 0;
    this.markCount = 0;
    this.held = null;
    this.heldBytes = 0;
  }

  /**
   * Takes bytes of a head; returns how many of them belong to it. Fewer than there are: it is done. All of them: it is
   * done (`isDone`), more must come, or `fault` says why it is not taken; `take` then has what was read before.
   */
  push(chunk: Buffer): number {
    const before = this.heldBytes;
    const bytes = this.held === null ? chunk : this.append(this.held, chunk);
    const end = before + chunk.length;
    this.scan(bytes, end);
    if (this.state < State.Done) this.checkSizes();
    if (this.state < State.Done) {
      if (this.held === null) {
        // A copy with room for more: the rest of a head often comes in small pieces.
        this.held = Buffer.allocUnsafe(Math.max(1024, chunk.length * 2));
        chunk.copy(this.held);
      }
      this.heldBytes = end;
      return chunk.length;
    }
    this.held = bytes;
    this.heldBytes = end;
    return this.state === State.Done ? this.at - before : chunk.length;
  }

  private append(held: Buffer, chunk: Buffer): Buffer {
    const end = this.heldBytes + chunk.length;
    if (end > held.length) {
      this.held = Buffer.allocUnsafe(end * 2);
      held.copy(this.held, 0, 0, this.heldBytes);
    }
    const room = this.held as Buffer;
    chunk.copy(room, this.heldBytes);
    return room;
  }

  /** What was read. Null: not even a request line. */
  take(): ParsedHead | null {
    if (this.held === null || this.versionEnd === 0) return null;
    const { marks, markCount, held, fields } = this;
    const text = held.toString('latin1', 0, this.at);
    const headers: string[] = [];
    for (let index = 0; index + 1 < markCount; index += 2)
      headers.push(fields.read(index >> 1, held, marks[index] as number, marks[index + 1] as number, text));
    this.held = null;
    return {
      method: text.slice(this.methodStart, this.methodEnd),
      uri: text.slice(this.methodEnd + 1, this.targetEnd),
      protocol: text.slice(this.targetEnd + 1, this.versionEnd),
      headers,
    };
  }

  private refuse(status: HeadFault['status'], reason: string): void {
    this.state = State.Fault;
    this.fault = { status, reason };
  }

  /** What has no end yet may be too long already; a target that came whole is judged with its head. */
  private checkSizes(): void {
    const { uriBytesMax, headerBytesMax } = this.limits();
    if (this.state === State.Target && this.at - this.mark > uriBytesMax)
      this.refuse(414, `the request target is longer than ${uriBytesMax} bytes`);
    else if (this.fieldsStart !== 0 && this.at - this.fieldsStart > headerBytesMax)
      this.refuse(431, `header fields longer than ${headerBytesMax} bytes together`);
  }

  private scan(bytes: Uint8Array, end: number): void {
    while (this.at < end) {
      switch (this.state) {
        case State.Start:
        case State.StartLf:
          this.scanStart(bytes);
          break;
        case State.Method:
          this.scanMethod(bytes, end);
          break;
        case State.Target:
          this.scanTarget(bytes, end);
          break;
        case State.Version:
          this.scanVersion(bytes, end);
          break;
        case State.Name:
          this.scanName(bytes, end);
          break;
        case State.ValueStart:
          this.scanValueStart(bytes, end);
          break;
        case State.Value:
          this.scanValue(bytes, end);
          break;
        case State.Line:
          this.scanLine(bytes[this.at] as number);
          break;
        case State.VersionLf:
        case State.ValueLf:
        case State.EndLf:
          this.scanLineFeed(bytes[this.at] as number);
          break;
        case State.Done:
        case State.Fault:
          return;
      }
    }
  }

  /** One empty line before a request is passed over (RFC 9112 section 2.2). */
  private scanStart(bytes: Uint8Array): void {
    const code = bytes[this.at] as number;
    if (this.state === State.StartLf) {
      if (code !== LF) this.refuse(400, 'a bare carriage return before the request line');
      else this.at += 1;
      this.methodStart = this.at;
      if (this.fault === null) this.state = State.Start;
    } else if (code === CR && this.at === 0) {
      this.at += 1;
      this.state = State.StartLf;
    } else {
      this.mark = this.at;
      this.methodStart = this.at;
      this.state = State.Method;
    }
  }

  private scanMethod(bytes: Uint8Array, end: number): void {
    let at = this.at;
    while (at < end && ((classes[bytes[at] as number] as number) & isToken) !== 0) at += 1;
    this.at = at;
    const length = at - this.mark;
    if (length > methodBytesMax) this.refuse(400, `a method longer than ${methodBytesMax} bytes`);
    else if (at < end) {
      if (bytes[at] !== SPACE || length === 0) this.refuse(400, 'the method is not a token');
      else {
        this.methodEnd = at;
        this.at = at + 1;
        this.mark = this.at;
        this.state = State.Target;
      }
    }
  }

  private scanTarget(bytes: Uint8Array, end: number): void {
    let at = this.at;
    while (at < end && ((classes[bytes[at] as number] as number) & isTarget) !== 0) at += 1;
    this.at = at;
    if (at === end) return;
    const code = bytes[at] as number;
    if (at === this.mark || (code !== SPACE && code !== CR))
      this.refuse(400, 'the request target is empty, or has spaces or control characters');
    else if (code === CR) this.refuse(505, 'a request line without a version (HTTP/0.9)');
    else {
      this.targetEnd = at;
      this.at = at + 1;
      this.mark = this.at;
      this.state = State.Version;
    }
  }

  /** `HTTP/` digit `.` digit; which digits are spoken is the road's to say. */
  private scanVersion(bytes: Uint8Array, end: number): void {
    const from = this.mark;
    const upTo = Math.min(end, from + versionBytes);
    let at = this.at;
    while (at < upTo && isVersionByte(bytes[at] as number, at - from)) at += 1;
    this.at = at;
    if (at === end) return;
    if (at < from + versionBytes || bytes[at] !== CR) {
      this.refuse(400, 'a request line that does not end with its version');
      return;
    }
    this.versionEnd = at;
    this.at = at + 1;
    this.state = State.VersionLf;
  }

  private scanLineFeed(code: number): void {
    if (code !== LF) {
      this.refuse(400, 'a bare carriage return');
      return;
    }
    this.at += 1;
    if (this.state === State.VersionLf) this.fieldsStart = this.at;
    this.state = this.state === State.EndLf ? State.Done : State.Line;
  }

  /** The first byte of a line behind the request line. */
  private scanLine(code: number): void {
    if (code === CR) {
      this.at += 1;
      this.state = State.EndLf;
    } else if (code === SPACE || code === TAB) this.refuse(400, 'a folded header field');
    else {
      const { headerFieldsMax } = this.limits();
      if (this.markCount >= headerFieldsMax * 4) this.refuse(431, `more than ${headerFieldsMax} header fields`);
      this.mark = this.at;
      if (this.fault === null) this.state = State.Name;
    }
  }

  private scanName(bytes: Uint8Array, end: number): void {
    let at = this.at;
    while (at < end && ((classes[bytes[at] as number] as number) & isToken) !== 0) at += 1;
    this.at = at;
    if (at === end) return;
    if (bytes[at] !== COLON || at === this.mark) {
      this.refuse(400, 'a header field without a name, or with a name that is not a token');
      return;
    }
    this.marks[this.markCount] = this.mark;
    this.marks[this.markCount + 1] = at;
    this.at = at + 1;
    this.state = State.ValueStart;
  }

  private scanValueStart(bytes: Uint8Array, end: number): void {
    let at = this.at;
    while (at < end && (bytes[at] === SPACE || bytes[at] === TAB)) at += 1;
    this.at = at;
    if (at === end) return;
    this.mark = at;
    this.state = State.Value;
  }

  private scanValue(bytes: Uint8Array, end: number): void {
    let at = this.at;
    while (at < end && ((classes[bytes[at] as number] as number) & isFieldText) !== 0) at += 1;
    this.at = at;
    if (at === end) return;
    if (bytes[at] !== CR) {
      this.refuse(400, 'a header field with control characters, or a bare line feed');
      return;
    }
    let valueEnd = at;
    while (valueEnd > this.mark && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB)) valueEnd -= 1;
    this.marks[this.markCount + 2] = this.mark;
    this.marks[this.markCount + 3] = valueEnd;
    this.markCount += 4;
    this.at = at + 1;
    this.state = State.ValueLf;
  }
}

function isVersionByte(code: number, index: number): boolean {
  if (index === 5 || index === 7) return code >= 0x30 && code <= 0x39;
  return code === 'HTTP/1.1'.charCodeAt(index);
}
