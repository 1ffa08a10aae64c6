// What a PostgreSQL server says on one connection, as far as its guard has to understand it: where messages begin and
// end, whether a transaction is open, and the last word. Source: PostgreSQL manual, chapter "Message Formats".

/** Type and length. */
const headBytes = 5;
const [errorResponse, readyForQuery, parameterStatus] = [0x45, 0x5a, 0x53];
/** States of ReadyForQuery. */
const [isIdle, isFailed] = [0x49, 0x45];
/** SQLSTATEs connection_failure and read_only_sql_transaction. */
const connectionFailure = '08006';
const readOnly = '25006';

export class ServerWords {
  /** Pieces of a message that is not complete, and how many bytes it lacks at least. */
  private pieces: Buffer[] = [];
  private missing = 0;
  private last: 'none' | 'idle' | 'open' = 'none';
  lastWord: Error | null = null;
  /**
   * It refused to write, and is ready for the next statement: its server may have become a standby of another one. Not
   * before: postgres.js tells a statement its error when the server is ready again, which may be a packet later.
   */
  isReadOnly = false;
  private refusedToWrite = false;
  /** It said with its first words that it follows another server (PostgreSQL 14 and later do). */
  isStandby = false;

  /** It was ready for a statement once. */
  get hasBeenReady(): boolean {
    return this.last !== 'none';
  }

  get hasOpenTransaction(): boolean {
    return this.last === 'open';
  }

  /**
   * The messages that this chunk completes; null: none. A FATAL error that ends a connection in use is kept back:
   * postgres.js would tell it to the first query of the next connection.
   */
  read(chunk: Buffer): Buffer | null {
    this.pieces.push(chunk);
    this.missing -= chunk.length;
    if (this.missing > 0) return null;
    const text = this.pieces.length === 1 ? chunk : Buffer.concat(this.pieces);
    let at = 0;
    let lacks = headBytes;
    while (text.length - at >= headBytes) {
      const end = at + 1 + text.readUInt32BE(at + 1);
      lacks = end - text.length;
      if (lacks > 0) break;
      if (text[at] === parameterStatus && this.last === 'none')
        this.isStandby ||= text.toString('latin1', at + headBytes, end) === 'in_hot_standby\0on\0';
      if (text[at] === readyForQuery) {
        this.last = text[at + headBytes] === isIdle ? 'idle' : 'open';
        this.isReadOnly ||= this.refusedToWrite && this.last === 'idle';
      }
      if (text[at] === errorResponse && this.last !== 'none') {
        const fields = fieldsOf(text.subarray(at + headBytes, end));
        this.refusedToWrite ||= fields.get('C') === readOnly;
        this.lastWord = fatalOf(fields);
        if (this.lastWord !== null) break;
      }
      at = end;
      lacks = headBytes - (text.length - at);
    }
    this.pieces = at === text.length ? [] : [text.subarray(at)];
    this.missing = Math.max(0, lacks);
    return at === 0 ? null : text.subarray(0, at);
  }

  /** The answer to a statement that the server did not live to answer: an error, and ready for the next. */
  refusal(): Buffer {
    const { message, code } = (this.lastWord ?? {}) as NodeJS.ErrnoException;
    const fields = [
      'SERROR',
      'VERROR',
      `C${code ?? connectionFailure}`,
      `M${message ?? 'The connection to the database has ended.'}`,
      '',
      '',
    ].join('\0');
    const body = Buffer.from(fields, 'utf8');
    const head = Buffer.from([errorResponse, 0, 0, 0, 0]);
    head.writeUInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body, Buffer.from([readyForQuery, 0, 0, 0, 5, isFailed])]);
  }
}

/** Fields of an ErrorResponse by their letters. */
function fieldsOf(bytes: Buffer): ReadonlyMap<string, string> {
  const fields = bytes.toString('utf8').split('\0');
  return new Map(fields.map((field) => [field.slice(0, 1), field.slice(1)]));
}

/** null: the connection goes on. */
function fatalOf(fields: ReadonlyMap<string, string>): Error | null {
  if ((fields.get('V') ?? fields.get('S')) !== 'FATAL') return null;
  return Object.assign(new Error(fields.get('M') ?? 'The database ended the connection.'), { code: fields.get('C') });
}
