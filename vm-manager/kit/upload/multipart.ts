// A multipart/form-data body (RFC 7578, RFC 2046 §5.1) read as it arrives: one file that is handed on in pieces, and
// short fields. Everything has a bound, and what ends in the middle is refused.
import { ApiError } from '#http-kit';

const headBytesMax = 8192;
const fieldBytesMax = 65_536;
const partsMax = 40;

export interface Form {
  readonly fields: Record<string, string>;
  /** null: no part had a file. */
  readonly fileName: string | null;
}

const malformed = (why: string): ApiError => new ApiError('malformed_request', `The multipart body ${why}.`);

interface Part {
  readonly name: string;
  readonly fileName: string | null;
}

type Write = (chunk: Buffer) => Promise<void>;

/** Calls `write` with the pieces of the file. Throws ApiError 400 for what is no such body. */
export async function readMultipart(body: AsyncIterable<unknown>, boundary: string, write: Write): Promise<Form> {
  const reader = new FormReader(boundary, write);
  for await (const chunk of body) await reader.push(chunk as Buffer);
  return reader.end();
}

class FormReader {
  private readonly delimiter: Buffer;
  private readonly write: Write;
  private readonly fields = new Map<string, string>();
  private fileName: string | null = null;
  private rest: Buffer = Buffer.from('\r\n'); // the first delimiter has no line before it
  private part: Part | null = null;
  private value: Buffer[] = [];
  private valueBytes = 0;
  private parts = 0;
  private state: 'between' | 'after-delimiter' | 'head' | 'inside' | 'over' = 'between';

  constructor(boundary: string, write: Write) {
    this.delimiter = Buffer.from(`\r\n--${boundary}`);
    this.write = write;
  }

  async push(chunk: Buffer): Promise<void> {
    this.rest = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    while (await this.advance());
  }

  end(): Form {
    if (this.state !== 'over') throw malformed('ends in the middle');
    return { fields: Object.fromEntries(this.fields), fileName: this.fileName };
  }

  /** One step; false when more bytes are needed. */
  private async advance(): Promise<boolean> {
    if (this.state === 'over') return false;
    if (this.state === 'after-delimiter') return this.afterDelimiter();
    return this.state === 'head' ? this.head() : this.upToDelimiter();
  }

  private async upToDelimiter(): Promise<boolean> {
    const at = this.rest.indexOf(this.delimiter);
    const keep = at < 0 ? Math.max(0, this.rest.length - this.delimiter.length) : at;
    await this.take(this.rest.subarray(0, keep));
    this.rest = this.rest.subarray(at < 0 ? keep : at + this.delimiter.length);
    if (at < 0) return false;
    this.endPart();
    this.state = 'after-delimiter';
    return true;
  }

  private afterDelimiter(): boolean {
    if (this.rest.length < 2) return false;
    if (this.rest.subarray(0, 2).toString('latin1') === '--') {
      this.state = 'over';
      return true;
    }
    const end = this.rest.indexOf('\r\n');
    if (end < 0 && this.rest.length > 128) throw malformed('is broken after a boundary');
    if (end < 0) return false;
    if (++this.parts > partsMax) throw malformed(`has more than ${partsMax} parts`);
    this.rest = this.rest.subarray(end + 2);
    this.state = 'head';
    return true;
  }

  private head(): boolean {
    const end = this.rest.indexOf('\r\n\r\n');
    if (end > headBytesMax || (end < 0 && this.rest.length > headBytesMax))
      throw malformed('has a part with a head that is too long');
    if (end < 0) return false;
    this.part = readHead(this.rest.subarray(0, end).toString('utf8'));
    if (this.part.fileName !== null) {
      if (this.fileName !== null) throw malformed('has more than one file');
      this.fileName = this.part.fileName;
    }
    this.rest = this.rest.subarray(end + 4);
    this.state = 'inside';
    return true;
  }

  private async take(piece: Buffer): Promise<void> {
    if (piece.length === 0 || this.part === null) return;
    if (this.part.fileName !== null) return this.write(piece);
    this.valueBytes += piece.length;
    if (this.valueBytes > fieldBytesMax)
      throw malformed(`has a field ${this.part.name} of more than ${fieldBytesMax} bytes`);
    this.value.push(Buffer.from(piece));
  }

  private endPart(): void {
    if (this.part !== null && this.part.fileName === null) {
      if (this.fields.has(this.part.name)) throw malformed(`has the field ${this.part.name} twice`);
      this.fields.set(this.part.name, Buffer.concat(this.value).toString('utf8'));
    }
    [this.part, this.value, this.valueBytes] = [null, [], 0];
  }
}

function readHead(text: string): Part {
  const line = text.split('\r\n').find((one) => /^content-disposition:/i.test(one));
  const name = line === undefined ? undefined : /[;\s]name="([^"\r\n]{1,100})"/i.exec(line)?.[1];
  if (line === undefined || name === undefined) throw malformed('has a part without a name');
  const fileName = /filename\*?="?([^"\r\n;]*)"?/i.exec(line)?.[1];
  return { name, fileName: fileName === undefined && name !== 'file' ? null : (fileName ?? '').slice(0, 201) };
}
