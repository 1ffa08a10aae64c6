// The same attack in other clothes, and harmless requests of the same shape. What a patch refuses in one form it has
// to refuse in the forms that the application reads alike; what stands beside it has to go on working.
import type { FirewallRequest } from './firewall.js';
import { withValue, type Place } from './request.js';
import { valueTypes, type WeaknessClass } from './weakness-classes.js';

const everyByte = (text: string): string =>
  [...Buffer.from(text, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** Value of the parameter in a request that carries it in its query or in a form; null: it does not. */
export function valueIn(request: FirewallRequest, parameter: string): string | null {
  const fields = new URLSearchParams(request.uri.split('?', 2)[1] ?? '');
  const form = new URLSearchParams(request.body);
  return fields.get(parameter) ?? form.get(parameter);
}

/** The request's value in other encodings, methods and bodies; none where it is not known which part is the attack. */
export function mutationsOf(attack: FirewallRequest, parameter: string | null): FirewallRequest[] {
  const value = parameter === null ? null : valueIn(attack, parameter);
  if (parameter === null || value === null) return [];
  const path = attack.uri.split('?', 1)[0] ?? '/';
  const host = attack.headers.filter(([name]) => name.toLowerCase() === 'host');
  const made = (name: string, method: string, uri: string, type: string | null, body: string): FirewallRequest => ({
    name,
    method,
    uri,
    headers: [...host, ...(type === null ? [] : [['Content-Type', type] as const])],
    body,
  });
  const key = encodeURIComponent(parameter);
  const boundary = 'gatehouse-part';
  return [
    made('every byte encoded', 'GET', `${path}?${key}=${everyByte(value)}`, null, ''),
    made('upper case', 'GET', `${path}?${key}=${encodeURIComponent(value.toUpperCase())}`, null, ''),
    made('a parameter in the path', 'GET', `/;v=1${path};v=1?${key}=${encodeURIComponent(value)}`, null, ''),
    made('a slash at the end of the path', 'GET', `${path}/?${key}=${encodeURIComponent(value)}`, null, ''),
    made('in a form', 'POST', path, 'application/x-www-form-urlencoded', `${key}=${encodeURIComponent(value)}`),
    made('in JSON', 'POST', path, 'application/json', JSON.stringify({ [parameter]: value })),
    made(
      'in a form of parts',
      'POST',
      path,
      `multipart/form-data; boundary=${boundary}`,
      `--${boundary}\r\nContent-Disposition: form-data; name="${parameter.replaceAll('"', '')}"\r\n\r\n${value}\r\n` +
        `--${boundary}--\r\n`,
    ),
  ];
}

const examples: Readonly<Record<string, readonly string[]>> = {
  integer: ['17', '0'],
  uuid: ['5e2c4d1a-7f7b-4a39-9d0e-0f6a1b2c3d4e'],
  date: ['2026-11-22'],
  decimal: ['17.5'],
  boolean: ['true', 'false'],
  email: ['jane.doe@example.org'],
  word: ['blue-shoes'],
};

/** Harmless values for the place: of the type that the rule demands, else of the weakness's own list. */
export function harmlessValues(valueType: string | null, weakness: WeaknessClass | null): readonly string[] {
  if (valueType !== null && Object.hasOwn(valueTypes, valueType)) return examples[valueType] ?? [];
  return weakness?.benign ?? ['blue shoes 42'];
}

/** Requests like the attack, without it: the same place with harmless values, and the place without the parameter. */
export function benignOf(place: Place, values: readonly string[]): FirewallRequest[] {
  const host: readonly (readonly [string, string])[] = place.host === null ? [] : [['Host', place.host]];
  const [path = '/'] = place.target.split('?', 1);
  const bare = { name: 'the path alone', method: 'GET', uri: path, headers: host, body: '' };
  const filled = values.map((value) => {
    const made = withValue({ ...place, target: path }, value, `with ${value}`);
    return { ...made, headers: [...host, ...made.headers] };
  });
  return [...filled, bare];
}
