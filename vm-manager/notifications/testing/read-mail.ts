// A mail taken apart as a mail program does it (RFC 5322, 2045, 2046, 2047): headers, and the parts with their bytes.
export interface MailPart {
  readonly type: string;
  /** Of an attachment; null: it is the text. */
  readonly name: string | null;
  readonly content: Buffer;
}

export interface ReadMail {
  readonly headers: ReadonlyMap<string, string>;
  readonly parts: readonly MailPart[];
}

const decodeWords = (text: string): string =>
  text.replace(/\?=\s+=\?/g, '?==?').replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, coded: string) =>
    kind.toUpperCase() === 'B'
      ? Buffer.from(coded, 'base64').toString()
      : Buffer.from(
          coded.replaceAll('_', ' ').replace(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
          'latin1',
        ).toString(),
  );

function split(text: string): { readonly headers: Map<string, string>; readonly body: string } {
  const end = text.indexOf('\r\n\r\n');
  const head = text.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const headers = new Map(
    head.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())] as const;
    }),
  );
  return { headers, body: text.slice(end + 4) };
}

function decodeBody(body: string, encoding = '7bit'): Buffer {
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body);
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}

/** Throws for a multipart without an end. */
export function readMail(text: string): ReadMail {
  const { headers, body } = split(text);
  const type = headers.get('content-type') ?? 'text/plain';
  const [, boundary] = /^multipart\/[^;]+;.*boundary="?([^";]+)"?/i.exec(type) ?? [];
  if (boundary === undefined) {
    const content = decodeBody(body, headers.get('content-transfer-encoding'));
    return { headers, parts: [{ type, name: null, content }] };
  }
  const pieces = `\r\n${body}`.split(`\r\n--${boundary}`);
  if (!pieces.at(-1)?.startsWith('--')) throw new Error('the mail has no end');
  const parts = pieces.slice(1, -1).map((piece) => {
    const part = split(piece.replace(/^\r\n/, ''));
    const [, name = null] = /filename="?([^";]+)"?/.exec(part.headers.get('content-disposition') ?? '') ?? [];
    const content = decodeBody(part.body, part.headers.get('content-transfer-encoding'));
    return { type: part.headers.get('content-type') ?? '', name, content };
  });
  return { headers, parts };
}
