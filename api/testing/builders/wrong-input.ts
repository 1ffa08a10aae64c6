// Input that is wrong in many ways, for any operation of the OpenAPI document.

/** What is read of an operation. */
export interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}
export type Json = Record<string, unknown>;

const long = 'x'.repeat(70_000);
const wrongValues: readonly unknown[] = [
  null,
  -1,
  1e308,
  'x',
  '\u0000',
  '\ud800',
  'ü😀',
  long,
  [],
  {},
  [null],
  { '\u0000': 1 },
  JSON.parse('{"constructor":{"prototype":1}}'),
];
const wrongText: readonly string[] = [
  '',
  '-1',
  '1e309',
  '9223372036854775808',
  '%00',
  '%ff',
  '%',
  '%F0%9F%98%80',
  "'",
  '2026-02-31',
  '275760-09-14T00:00:00Z',
  'a\\',
  Buffer.from('["\\u0000","\\u0000"]').toString('base64url'),
  Buffer.from('["x",1]').toString('base64url'),
  Buffer.from('[9e15,1]').toString('base64url'),
];
const wrongBodies: readonly (readonly [string, string | Buffer])[] = [
  ['application/json', ''],
  ['application/json', '{'],
  ['application/json', 'null'],
  ['application/json', '[]'],
  ['application/json', '"x"'],
  ['application/json', '{}{}'],
  ['application/json', '{"__proto__":{"x":1}}'],
  ['application/json', '['.repeat(100)],
  ['application/json', Buffer.from([0xff, 0xfe])],
  ['application/json', JSON.stringify({ a: 'x'.repeat(1024 * 1024) })],
  ['application/merge-patch+json', 'null'],
  ['text/plain', 'x'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['nonsense', '{}'],
  ['', '{}'],
];
const wrongHeaders: readonly (readonly [string, string])[] = [
  ['if-match', '"x"'],
  ['if-match', ''],
  ['if-match', `W/"${long.slice(0, 5000)}"`],
  ['accept', 'image/png'],
  ['x-forwarded-for', 'nonsense'],
  ['cookie', 'gatehouse_session=%ff; a'],
  ['last-event-id', 'x'],
];

/**
 * Bodies that are right, so that one wrong member is all that is wrong with them. Routes without a row are called with
 * `{}`.
 */
export function rightBodies(settings: Json): Readonly<Record<string, Json>> {
  const rule = {
    name: 'r',
    kind: 'visual',
    variable: 'ARGS',
    operator: 'contains',
    value: 'evil',
    action: 'block',
    phase: 2,
    enabled: true,
    seclang: '',
    tests: [{ name: 't', expect: 'match', method: 'GET', uri: '/?a=evil', headers: [['Host', 'a']], body: '' }],
  };
  return {
    'POST /api/login': { email: 'nobody@example.org', password: 'x' },
    'POST /api/users': { email: 'new@example.org', role: 'viewer', name: '', password: 'Quiet-river-stone-42' },
    'PATCH /api/users/{id}': { name: 'n', role: 'operator', suspended: false },
    'POST /api/tokens': { name: 'n', role: 'viewer', scopes: ['settings:read'] },
    'POST /api/threat-intel': {
      addresses: ['203.0.113.7'],
      text: '198.51.100.0/24',
      reason: 'r',
      expires_in_seconds: 60,
      skip_invalid: false,
      force: false,
    },
    'POST /api/rules': rule,
    'PATCH /api/rules/{id}': rule,
    'POST /api/rules/test': { rule, tests: rule.tests },
    'POST /api/rules/matches': { rule },
    'POST /api/vpatch': { cve: 'CVE-2021-44228', enabled: true },
    'POST /api/apply': {},
    'POST /api/config/rollback': { version: 1 },
    'PUT /api/settings': settings,
    'PATCH /api/settings': { mode: 'On' },
    'POST /api/dataplane/records': {
      node: 'n',
      batch_id: 'b',
      requests: [],
      events: [
        {
          at_ms: 1,
          request_id: '',
          site: '',
          client_ip: '',
          kind: '',
          verdict: '',
          method: '',
          uri: '',
          status: 0,
          rule_id: 1,
          inbound_score: 2 ** 50,
          details: { a: '\u0000' },
        },
      ],
      dropped: 1,
    },
    'POST /api/dataplane/samples': { node: 'n', samples: [] },
    'POST /api/dataplane/hello': { node: 'n' },
  };
}

/** The settings that would lock the caller out. */
const skippedMembers = new Set(['policy_2fa_required_admin']);

export interface Attempt {
  readonly url: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly what: string;
}

/** One call as it should be, then one for each way of being wrong. */
export function* attempts(
  pattern: string,
  operation: Operation,
  ids: Readonly<Record<string, string>>,
  right: Json,
): Generator<Attempt> {
  const path = (id: string): string => pattern.replace(/\{[^}]+\}/, id);
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
  const needed = query.filter((one) => one.required === true).map(({ name }) => `${name}=1`);
  const url = [path(ids[pattern] ?? '1'), needed.join('&')].filter((part) => part !== '').join('?');
  const body = operation.requestBody === undefined ? {} : { body: right };
  yield { url, ...body, what: 'as it should be' };
  if (pattern.includes('{'))
    for (const id of [...wrongText, 'x'.repeat(300), '..%2f', '__proto__'])
      yield { url: path(id), ...body, what: `id ${id.slice(0, 40)}` };
  for (const { name } of query)
    for (const text of wrongText)
      yield {
        url: `${path('1')}?${[...needed.filter((one) => !one.startsWith(`${name}=`)), `${name}=${text}`].join('&')}`,
        ...body,
        what: `${name}=${text}`,
      };
  for (const extra of ['surprise=1', '%00=1', '__proto__=1', 'limit=1&limit=2'])
    yield { url: `${url}${url.includes('?') ? '&' : '?'}${extra}`, ...body, what: extra };
  for (const [name, value] of wrongHeaders)
    yield { url, ...body, headers: { [name]: value }, what: `${name}: ${value.slice(0, 40)}` };
  if (operation.requestBody === undefined) return;
  for (const [type, text] of wrongBodies)
    yield { url, body: text, headers: { 'content-type': type }, what: `${type} ${String(text).slice(0, 20)}` };
  const names = [...Object.keys(right), 'surprise'].filter((name) => !skippedMembers.has(name));
  for (const [i, value] of wrongValues.entries())
    for (const [j, name] of names.entries()) {
      // of the settings with their hundred members each gets a third of the values
      if (names.length < 50 || (i + j) % 3 === 0)
        yield {
          url,
          body: JSON.stringify({ ...right, [name]: value }),
          headers: { 'content-type': 'application/json' },
          what: `/${name} = ${JSON.stringify(value).slice(0, 40)}`,
        };
    }
}
