// A request that a script has made becomes a form, whose values the checks can change.
import { isHarmful } from '../http/bounds.js';
import { formOfLink, isGraphqlText, rootOfGraphql, toForm } from '../http/forms.js';
import type { Form, Param, ScanRequest } from '../model.js';

const paramsMax = 60;
const depthMax = 4;
const tokenName = /csrf|xsrf|authenticity/i;

/** Values of a JSON body, those of its inner objects and of the first member of its lists, too. */
export function paramsOfJson(value: unknown, path: readonly (string | number)[] = []): Param[] {
  if (typeof value === 'object' && value !== null && path.length < depthMax) {
    const entries: (readonly [string | number, unknown])[] = Array.isArray(value)
      ? value.slice(0, 1).map((one, at) => [at, one])
      : Object.entries(value);
    return entries.flatMap(([name, one]) => paramsOfJson(one, [...path, name])).slice(0, paramsMax);
  }
  if (path.length === 0) return [];
  const name = path.join('.');
  const isText = typeof value === 'string';
  const text = isText ? value : (JSON.stringify(value) ?? 'null');
  // the text of a GraphQL document is code of the page, no value of its user
  const isFixed = path.length === 1 && isText && isGraphqlText(text);
  return [
    {
      ...{ name, value: text, place: 'body' as const },
      ...(isText ? {} : { isRaw: true }),
      ...(path.length > 1 || typeof path[0] === 'number' ? { path } : {}),
      ...(isFixed || (isText && path.length === 1 && path[0] === 'operationName') ? { isFixed: true } : {}),
    },
  ];
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Names of what a GraphQL request would write; none for one that reads, and for what is none. */
export function writesInGraphql(body: string): string[] {
  const value = parsed(body);
  const all = Array.isArray(value) ? value.slice(0, 20) : [value];
  return all.flatMap((one) => {
    const text = typeof one === 'object' && one !== null ? (one as { query?: unknown }).query : undefined;
    if (typeof text !== 'string' || !/\bmutation\b/.test(text)) return [];
    return text.slice(0, 20_000).match(/[A-Za-z_]\w*/g) ?? [];
  });
}

/** Variables of a GraphQL operation are called by what it asks for, so that those of two operations are two places. */
function inOperation(params: readonly Param[]): Param[] {
  const text = params.find(({ isFixed, name }) => isFixed === true && name === 'query')?.value;
  if (text === undefined) return [...params];
  const named = rootOfGraphql(text);
  return params.map((one) => ({ ...one, name: one.name.replace(/^variables\./, `${named}.`) }));
}

export function formOfSent({ method, url, headers, body }: ScanRequest): Form {
  const link = formOfLink(url, null, method);
  const type = headers['content-type'] ?? '';
  const extra = headers['x-requested-with'];
  const shape = {
    ...{ method, url: link.url },
    ...(extra === undefined ? {} : { headers: { 'x-requested-with': extra } }),
  };
  if (body === null || body === '') return toForm({ ...shape, params: link.params });
  const value = /json/i.test(type) || /^\s*[{[]/.test(body) ? parsed(body) : undefined;
  if (value !== undefined) {
    const isList = Array.isArray(value);
    const params = [...link.params, ...inOperation(paramsOfJson(value))];
    return toForm({ ...shape, params, bodyKind: isList ? 'json-list' : 'json' });
  }
  if (/urlencoded/i.test(type)) {
    const fields = [...new URLSearchParams(body)].slice(0, paramsMax).map(
      ([name, one]): Param => ({
        ...{ name, value: one, place: 'body' as const },
        ...(tokenName.test(name) ? { isToken: true } : {}),
      }),
    );
    return toForm({ ...shape, params: [...link.params, ...fields], bodyKind: 'form' });
  }
  return toForm({ ...shape, params: link.params });
}

/** Names of operations are written in one word. */
export const isHarmfulOperation = (name: string): boolean =>
  isHarmful('', name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[-_]+/g, ' '));
