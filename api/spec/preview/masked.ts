// Whether a recorded value may fail only because it was masked before it was stored: letters and digits of secrets, and
// with privacy_mode of personal data, are x in records (proxy/masking). What such a value was nobody knows any more.
import { maskBody } from '#proxy/contract';
import { valueAt } from '../document/references.js';

/** What masking cannot have changed: which names there are, and how the message is built. */
const structural: ReadonlySet<string> = new Set([
  ...['required', 'additionalProperties', 'unknown', 'duplicate', 'method', 'mediaType', 'tooLarge', 'spelling'],
  ...['readOnly', 'minProperties', 'maxProperties', 'minItems', 'maxItems', 'dependentRequired', 'false'],
]);

/** `xxxxx`, `Bearer xxx`, `xxxxx@example.com`, `x`. */
const looksMasked = (text: string): boolean => /xx|^[^A-Za-z0-9]*x[^A-Za-z0-9]*$/.test(text);

/** Numbers of such names are written in ones. */
const isSecretName = (name: string): boolean => {
  const member = JSON.stringify({ [name]: 'q' });
  return maskBody(member, 'personal') !== member;
};

export interface Recorded {
  readonly uri: string;
  readonly headers: readonly string[] | null;
  /** latin1 */
  readonly body: string | null;
}

const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

function bodyTextAt(body: string, names: readonly string[]): string {
  try {
    const found = valueAt(JSON.parse(utf8(body)) as unknown, names);
    return typeof found === 'string' ? found : JSON.stringify(found ?? null);
  } catch {
    return body; // a form or parts: names of fields are not looked for
  }
}

function headerAt(headers: readonly string[], name: string): string {
  const at = headers.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name.toLowerCase());
  return at === -1 ? '' : (headers[at + 1] ?? '');
}

/** `pointer`: as violations have it (`/body/items/0/price`, `/query/page`, …). */
export function mayBeMasked({ uri, headers, body }: Recorded, pointer: string, keyword: string): boolean {
  if (structural.has(keyword)) return false;
  const [place = '', ...names] = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (place === 'cookie') return true;
  if (place === 'body') {
    const text = body === null || keyword === 'type' ? '' : bodyTextAt(body, names); // masks keep the types of JSON
    return looksMasked(text) || (/^-?[1.]+$/.test(text) && isSecretName(names.at(-1) ?? ''));
  }
  if (place === 'header') return looksMasked(headerAt(headers ?? [], names[0] ?? ''));
  const [path = '', query = ''] = uri.split('?', 2);
  if (place === 'path') return path.split('/').some(looksMasked);
  return query.split('&').some((pair) => {
    const at = pair.indexOf('=');
    const name = at === -1 ? pair : pair.slice(0, at);
    return name.startsWith(encodeURIComponent(names[0] ?? '').slice(0, 100)) && looksMasked(pair.slice(at + 1));
  });
}
