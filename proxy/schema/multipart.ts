// Fields of multipart/form-data (RFC 7578): names and texts. Strict: what two readers could read in two ways is null,
// and the request does not fit.

const fieldsMax = 1000;

function boundaryOf(field: string): string | null {
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(field);
  return found === null ? null : (found[1] ?? found[2] ?? null);
}

function nameOf(head: string): string | null {
  const lines = head.split('\r\n').filter((line) => /^content-disposition\s*:/i.test(line));
  if (lines.length !== 1) return null;
  const names = [...(lines[0] ?? '').matchAll(/;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi)];
  const [only] = names;
  if (names.length !== 1 || only === undefined) return null;
  return Buffer.from((only[1] ?? only[2] ?? '').replace(/\\(.)/g, '$1').replaceAll('%22', '"'), 'latin1').toString(
    'utf8',
  );
}

/** Values by name in their order; contents of files as latin1 text. null: it is not well formed. */
export function parseMultipart(bytes: Buffer, contentType: string): Map<string, string[]> | null {
  const boundary = boundaryOf(contentType);
  if (boundary === null) return null;
  const text = bytes.toString('latin1');
  const delimiter = `--${boundary}`;
  const fields = new Map<string, string[]>();
  let at = text.startsWith(delimiter) ? 0 : text.indexOf(`\r\n${delimiter}`) + 2;
  if (at === 1) return null;
  for (let count = 0; count <= fieldsMax; count += 1) {
    at += delimiter.length;
    if (text.startsWith('--', at)) return fields;
    if (!text.startsWith('\r\n', at)) return null;
    const headEnd = text.indexOf('\r\n\r\n', at);
    const end = text.indexOf(`\r\n${delimiter}`, headEnd + 2);
    if (headEnd === -1 || end === -1) return null;
    const name = nameOf(text.slice(at + 2, headEnd));
    if (name === null) return null;
    const raw = text.slice(headEnd + 4, Math.max(headEnd + 4, end));
    const value = Buffer.from(raw, 'latin1').toString('utf8');
    fields.set(name, [...(fields.get(name) ?? []), value]);
    at = end + 2;
  }
  return null;
}
