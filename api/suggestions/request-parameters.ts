// Parameters of a request by name, and the same request with another value in one of them: query, form or top level of
// JSON.
import type { TrialRequest } from '#compiler';

const contentTypeOf = (request: TrialRequest): string =>
  (request.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '').toLowerCase();
const isForm = (request: TrialRequest): boolean =>
  request.body !== '' &&
  (contentTypeOf(request) === '' || contentTypeOf(request).startsWith('application/x-www-form-urlencoded'));

function splitQuery(uri: string): { readonly path: string; readonly query: URLSearchParams } {
  const at = uri.indexOf('?');
  return { path: at < 0 ? uri : uri.slice(0, at), query: new URLSearchParams(at < 0 ? '' : uri.slice(at + 1)) };
}

function jsonObject(request: TrialRequest): Record<string, unknown> | null {
  if (!contentTypeOf(request).includes('json')) return null;
  try {
    const value: unknown = JSON.parse(request.body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Names as the engine has them: members of JSON as `json.name`. */
export function namesOf(request: TrialRequest): string[] {
  const members = Object.keys(jsonObject(request) ?? {}).map((name) => `json.${name}`);
  const form = isForm(request) ? [...new URLSearchParams(request.body).keys()] : [];
  return [...new Set([...splitQuery(request.uri).query.keys(), ...form, ...members])];
}

/** The value replaces the parameter where it is; a new one goes into the query. */
export function withParameter(request: TrialRequest, name: string, value: string): TrialRequest {
  if (name === '') return request;
  const members = jsonObject(request);
  if (members !== null && name.startsWith('json.')) {
    const [top = ''] = name.slice(5).split('.');
    const body = JSON.stringify({ ...members, [top]: value });
    return { ...request, headers: withoutLength(request.headers), body };
  }
  if (isForm(request)) {
    const form = new URLSearchParams(request.body);
    if (form.has(name)) {
      form.set(name, value);
      return { ...request, headers: withoutLength(request.headers), body: form.toString() };
    }
  }
  const { path, query } = splitQuery(request.uri);
  query.set(name, value);
  return { ...request, uri: `${path}?${query.toString()}` };
}

const withoutLength = (headers: TrialRequest['headers']): TrialRequest['headers'] =>
  headers.filter(([name]) => name.toLowerCase() !== 'content-length');
