// A form becomes a request, and an address becomes a form. The key of a form is its canonical shape: method, path with
// identities taken out, names of its parameters; one set of probes is sent for each key.
import { createHash } from 'node:crypto';
import type { BodyKind, Form, Param, ScanMethod, ScanRequest } from '../model.js';

const identities: readonly (readonly [RegExp, string])[] = [
  [/^\d+$/, '{n}'],
  [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, '{id}'],
  [/^(?=[^/]*\d)[0-9a-f]{8,}$/i, '{id}'],
  [/^\d{4}-\d{1,2}(?:-\d{1,2})?$/, '{d}'],
  [/^(?=[^/]*\d)(?=[^/]*[a-z])[\w-]{16,}$/i, '{id}'],
];

const templateSegment = (segment: string): string =>
  identities.find(([form]) => form.test(segment))?.[1] ?? segment.replace(/;.*$/s, '');

/** The path with what changes from one object to the next taken out. */
export const templateOf = (path: string): string => path.split('/').map(templateSegment).join('/');

export const isGraphqlText = (text: string): boolean =>
  /^\s*(?:(?:query|mutation|subscription|fragment)\b[^{]*)?\{/.test(text) && text.includes('}');

/** The first field that it asks for, whatever it calls itself. */
export const rootOfGraphql = (text: string): string => /\{\s*(?:\w{1,60}\s*:\s*)?(\w{1,60})/.exec(text)?.[1] ?? 'query';

/** Requests that differ in what they always send are different forms. */
const shortOf = (text: string): string =>
  isGraphqlText(text) ? rootOfGraphql(text) : createHash('sha256').update(text).digest('hex').slice(0, 12);

interface FormShape {
  readonly method: ScanMethod;
  readonly url: string;
  readonly params?: readonly Param[];
  readonly bodyKind?: BodyKind;
  readonly page?: string | null;
  readonly isProtected?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export function toForm(shape: FormShape): Form {
  const { method, url, params = [], bodyKind = 'none', page = null, isProtected, headers } = shape;
  const place = new URL(url.replaceAll('{', '%7B').replaceAll('}', '%7D'));
  const path = decodeURI(place.pathname).replaceAll('%7B', '{').replaceAll('%7D', '}');
  const names = params
    .filter(({ place: at }) => at !== 'path')
    .filter(({ name, isFixed }) => isFixed !== true || name !== 'operationName')
    .map(({ name, place: at, isFixed, value }) => `${at}:${name}${isFixed === true ? `=${shortOf(value)}` : ''}`)
    .sort();
  return {
    key: `${method} ${place.origin}${templateOf(path).replaceAll(/\{[^/{}]*\}/g, '{}')}?${names.join('&')} ${bodyKind}`,
    method,
    url: url.split(/[?#]/, 1)[0] ?? url,
    params,
    bodyKind,
    page,
    ...(isProtected === undefined ? {} : { isProtected }),
    ...(headers === undefined ? {} : { headers }),
  };
}

/** An address as it was found; its last identity of the path is a parameter, too. */
export function formOfLink(address: string, page: string | null, method: ScanMethod = 'GET'): Form {
  const url = new URL(address);
  const params: Param[] = [];
  for (const [name, value] of url.searchParams)
    if (!params.some((one) => one.name === name)) params.push({ name, value, place: 'query' });
  const segments = url.pathname.split('/');
  const at = segments.findLastIndex((segment) => /^(?:\d+|[0-9a-f-]{36})$/i.test(segment));
  if (at > 0) {
    params.push({ name: `path${at}`, value: segments[at] ?? '', place: 'path' });
    segments[at] = `{path${at}}`;
  }
  return toForm({ method, url: `${url.origin}${segments.join('/')}`, params, page });
}

export type Values = Readonly<Record<string, string>>;

const boundary = '----gatehouse7d1f4c0a9be3';
const fileTypes: Readonly<Record<string, string>> = { html: 'text/html', svg: 'image/svg+xml', txt: 'text/plain' };
/** As browsers say it; of programs they know nothing. */
const typeOfFile = (name: string): string => fileTypes[name.split('.').at(-1) ?? ''] ?? 'image/png';

type Container = object;

function rawOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Puts a value where the path leads, through objects and lists that are made on the way. */
function put(body: Container, path: readonly (string | number)[], value: unknown): void {
  let at = body as Record<string | number, unknown>;
  for (const [count, name] of path.entries()) {
    const own = Object.hasOwn(at, name) ? at[name] : undefined;
    const next = path[count + 1];
    const made = next === undefined ? value : (own ?? (typeof next === 'number' ? [] : {}));
    Object.defineProperty(at, name, { value: made, writable: true, enumerable: true, configurable: true });
    at = made as Record<string | number, unknown>;
  }
}

function bodyOf(form: Form, values: Values): string | null {
  const fields = form.params.filter(({ place }) => place === 'body');
  const valueOf = (param: Param): string => values[param.name] ?? param.value;
  if (form.bodyKind === 'form')
    return fields.map((one) => `${encodeURIComponent(one.name)}=${encodeURIComponent(valueOf(one))}`).join('&');
  if (form.bodyKind === 'multipart') {
    const quoted = (text: string): string => text.replaceAll('"', '%22').replaceAll(/\r?\n/g, ' ');
    const parts = fields.map((one) => {
      const head = `content-disposition: form-data; name="${quoted(one.name)}"`;
      if (one.file === undefined) return `${head}\r\n\r\n${valueOf(one)}`;
      const type = typeOfFile(valueOf(one));
      return `${head}; filename="${quoted(valueOf(one))}"\r\ncontent-type: ${type}\r\n\r\n${one.file}`;
    });
    return `${parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')}--${boundary}--\r\n`;
  }
  if (form.bodyKind === 'json' || form.bodyKind === 'json-list') {
    const body: Container = form.bodyKind === 'json' ? {} : [];
    for (const one of fields) {
      const given = values[one.name];
      put(body, one.path ?? [one.name], given === undefined && one.isRaw === true ? rawOf(one.value) : valueOf(one));
    }
    return JSON.stringify(body);
  }
  if (form.bodyKind === 'xml') {
    const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return `<?xml version="1.0"?><request>${fields
      .map((one) => `<${one.name}>${escape(valueOf(one))}</${one.name}>`)
      .join('')}</request>`;
  }
  return null;
}

const mediaTypes: Readonly<Record<BodyKind, string | null>> = {
  none: null,
  form: 'application/x-www-form-urlencoded',
  multipart: `multipart/form-data; boundary=${boundary}`,
  json: 'application/json',
  'json-list': 'application/json',
  xml: 'application/xml',
};

/** The address of the form with these values in it. */
export function addressOf(form: Form, values: Values = {}): string {
  let url = form.url;
  const query: string[] = [];
  for (const param of form.params) {
    const value = encodeURIComponent(values[param.name] ?? param.value);
    if (param.place === 'path') url = url.replaceAll(`{${param.name}}`, value === '' ? '-' : value);
    else if (param.place === 'query') query.push(`${encodeURIComponent(param.name)}=${value}`);
  }
  return query.length === 0 ? url : `${url}?${query.join('&')}`;
}

export function requestOf(form: Form, values: Values = {}, headers: Values = {}): ScanRequest {
  const body = bodyOf(form, values);
  const mediaType = body === null ? null : mediaTypes[form.bodyKind];
  return {
    method: form.method,
    url: addressOf(form, values),
    headers: { ...form.headers, ...(mediaType === null ? {} : { 'content-type': mediaType }), ...headers },
    body,
  };
}

/** The same request as it is written on the wire, for readers and for the firewall. */
export function showRequest({ method, url, headers, body }: ScanRequest): string {
  const { host } = new URL(url);
  const target = url.slice(url.indexOf(host) + host.length) || '/';
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}
