// Every format against what its standard says of it: JSON forms by schemas, CEF and RFC 5424 by readers that are as
// strict as the standards, over random events with hostile texts.
import t from 'tap';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { arbitraryEvent, plainEvent } from '../testing/events.js';
import type { SecurityEvent } from '../event.js';
import { defaultSyslog, jsonFormats, toCef, toRfc5424 } from './index.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_122) });

const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;
const time = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' } as const;
const closedObject = (properties: object, required: string[]) =>
  ({ type: 'object', additionalProperties: false, properties, required }) as const;
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

const nativeSchema = closedObject(
  {
    schema: { const: 'gatehouse.event/1' },
    id: { type: 'string', pattern: '^[0-9a-f-]{36}$' },
    kind: text,
    at: time,
    name: text,
    action: { enum: ['allowed', 'observed', 'blocked', 'challenged', 'throttled', 'failed'] },
    severity: { type: 'integer', minimum: 0, maximum: 10 },
    node: orNull(text),
    site: orNull(text),
    client_ip: orNull(text),
    request: orNull(
      closedObject(
        {
          id: orNull(text),
          method: text,
          path: text,
          query: orNull(text),
          status: whole,
          user_agent: orNull(text),
          host: orNull(text),
        },
        ['id', 'method', 'path', 'query', 'status', 'user_agent', 'host'],
      ),
    ),
    rules: {
      type: 'array',
      items: closedObject({ id: whole, message: text, tags: { type: 'array', items: text }, data: orNull(text) }, [
        'id',
        'message',
        'tags',
        'data',
      ]),
    },
    score: orNull(whole),
    reason: orNull(text),
    details: { type: 'object' },
  },
  [
    ...['schema', 'id', 'kind', 'at', 'name', 'action', 'severity', 'node', 'site', 'client_ip', 'request', 'rules'],
    ...['score', 'reason', 'details'],
  ],
);

/** Without its port, which has a field of its own. */
const hostName = { type: 'string', pattern: '^([A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.]+\\])$' };
const port = { type: 'integer', minimum: 0, maximum: 65_535 };
/** Words and types of ECS 8.11; an `ip` is an address, never a network. */
const ip = { type: 'string', pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)$' };
const endpoint = closedObject({ address: text, ip }, ['address']);
const ecsSchema = closedObject(
  {
    '@timestamp': time,
    ecs: closedObject({ version: { const: '8.11.0' } }, ['version']),
    message: text,
    event: closedObject(
      {
        id: text,
        kind: { enum: ['alert', 'event'] },
        category: {
          type: 'array',
          items: { enum: ['web', 'intrusion_detection', 'configuration', 'vulnerability'] },
          minItems: 1,
        },
        type: { type: 'array', items: { enum: ['allowed', 'denied', 'info', 'error', 'change'] }, minItems: 1 },
        action: text,
        outcome: { enum: ['success', 'failure', 'unknown'] },
        severity: whole,
        dataset: { const: 'gatehouse.events' },
        module: { const: 'gatehouse' },
        risk_score: { type: 'number' },
        reason: text,
      },
      ['id', 'kind', 'category', 'type', 'action', 'outcome', 'severity', 'dataset', 'module'],
    ),
    observer: closedObject({ vendor: text, product: text, type: { const: 'waf' }, hostname: text }, ['type']),
    source: endpoint,
    client: endpoint,
    rule: closedObject({ id: text, name: text, category: text }, ['id', 'name']),
    http: closedObject(
      {
        request: closedObject({ method: text, id: text }, ['method']),
        response: closedObject({ status_code: whole }, ['status_code']),
      },
      ['request', 'response'],
    ),
    url: closedObject({ original: text, path: text, query: text, domain: hostName, port }, ['original', 'path']),
    user_agent: closedObject({ original: text }, ['original']),
    trace: closedObject({ id: text }, ['id']),
    related: closedObject({ ip: { type: 'array', items: ip }, hosts: { type: 'array', items: hostName } }, []),
    tags: { type: 'array', items: text },
    gatehouse: { type: 'object' },
  },
  ['@timestamp', 'ecs', 'message', 'event', 'observer', 'related', 'gatehouse'],
);

/** `event.type` that ECS has for each `event.category`. */
const ecsTypes: Readonly<Record<string, readonly string[]>> = {
  web: ['access', 'error', 'info', 'allowed', 'denied'],
  intrusion_detection: ['allowed', 'denied', 'info'],
  configuration: ['access', 'change', 'creation', 'deletion', 'info'],
  vulnerability: ['info'],
};

const ocsfBase = {
  time: whole,
  severity_id: { enum: [1, 2, 3, 4, 5, 6] },
  message: text,
  action_id: { enum: [0, 1, 2, 3, 4, 99] },
  disposition_id: { enum: [1, 2, 6, 15, 17, 19, 20, 22, 23, 25, 26] },
  is_alert: { type: 'boolean' },
  metadata: closedObject(
    {
      uid: text,
      // is_alert and the action Observed are of 1.4, the method PATCH of 1.5
      version: { const: '1.5.0' },
      profiles: { const: ['security_control'] },
      product: closedObject({ name: text, vendor_name: text }, ['name', 'vendor_name']),
      log_provider: text,
    },
    ['uid', 'version', 'product', 'profiles'],
  ),
  firewall_rule: closedObject({ uid: text, name: text, desc: text }, ['uid', 'name']),
  unmapped: { type: 'object' },
};
/** An endpoint has at least one of its members that identify it. */
const ocsfEndpoint = {
  type: 'object',
  additionalProperties: false,
  properties: { ip, name: text, hostname: hostName, port },
  anyOf: [{ required: ['ip'] }, { required: ['name'] }, { required: ['hostname'] }],
};
const ocsfRequired = ['time', 'severity_id', 'action_id', 'disposition_id', 'metadata', 'class_uid', 'category_uid'];
const ocsfHttp = closedObject(
  {
    ...ocsfBase,
    class_uid: { const: 4002 },
    category_uid: { const: 4 },
    activity_id: { enum: [1, 2, 3, 4, 5, 6, 7, 8, 99] },
    type_uid: whole,
    http_request: closedObject(
      {
        http_method: text,
        uid: text,
        user_agent: text,
        url: closedObject({ path: text, query_string: text, hostname: hostName, port }, ['path']),
      },
      ['http_method', 'url'],
    ),
    http_response: closedObject({ code: whole }, ['code']),
    src_endpoint: ocsfEndpoint,
    dst_endpoint: ocsfEndpoint,
  },
  [...ocsfRequired, 'activity_id', 'type_uid', 'http_request', 'http_response', 'src_endpoint', 'dst_endpoint'],
);
const ocsfFinding = closedObject(
  {
    ...ocsfBase,
    class_uid: { const: 2004 },
    category_uid: { const: 2 },
    activity_id: { enum: [1, 2, 3] },
    type_uid: whole,
    finding_info: closedObject({ uid: text, title: text, desc: text, types: { type: 'array', items: text } }, [
      'uid',
      'title',
    ]),
    evidences: { type: 'array', minItems: 1 },
  },
  [...ocsfRequired, 'activity_id', 'type_uid', 'finding_info'],
);

const ocsfApi = closedObject(
  {
    ...ocsfBase,
    class_uid: { const: 6003 },
    category_uid: { const: 6 },
    activity_id: { enum: [1, 2, 3, 4, 99] },
    type_uid: whole,
    status_id: { enum: [1, 2] },
    status_detail: text,
    actor: closedObject({ user: closedObject({ name: text, uid: text }, ['name']) }, ['user']),
    api: closedObject({ operation: text }, ['operation']),
    src_endpoint: ocsfEndpoint,
  },
  [...ocsfRequired, 'activity_id', 'type_uid', 'actor', 'api', 'src_endpoint'],
);

const run = (name: string, check: (event: SecurityEvent) => void): void => {
  t.test(name, async () => {
    fc.assert(fc.property(arbitraryEvent, check), { numRuns: 500 });
  });
};

const holds = (validate: ReturnType<typeof ajv.compile>, value: unknown): void => {
  if (!validate(JSON.parse(JSON.stringify(value)))) throw new Error(ajv.errorsText(validate.errors));
};

const native = ajv.compile(nativeSchema);
run('SIEM 1: native JSON fits its schema', (event) => holds(native, jsonFormats.native(event)));
const ecs = ajv.compile(ecsSchema);
run('SIEM 1: ECS fits its schema', (event) => {
  const told = jsonFormats.ecs(event) as { event: { kind: string; category: string[]; type: string[] } };
  holds(ecs, told);
  const { kind, category, type } = told.event;
  for (const one of type)
    if (!category.some((of) => ecsTypes[of]?.includes(one))) throw new Error(`${one} is no type of ${category.join()}`);
  if (['audit', 'vm'].includes(event.kind) && kind !== 'event') throw new Error(`${event.kind} is no alert`);
});
const http = ajv.compile(ocsfHttp);
const finding = ajv.compile(ocsfFinding);
const apiActivity = ajv.compile(ocsfApi);
run('SIEM 1: OCSF is class 4002 for requests, 6003 for the audit log, 2004 for the rest, and fits', (event) => {
  const told = jsonFormats.ocsf(event) as { class_uid: number; activity_id: number; type_uid: number };
  const schema = event.request !== null ? http : event.kind === 'audit' ? apiActivity : finding;
  holds(schema, told);
  if (['audit', 'vm'].includes(event.kind) && (told as { is_alert?: boolean }).is_alert !== false)
    throw new Error('nothing was detected');
  if (told.type_uid !== told.class_uid * 100 + told.activity_id) throw new Error('type_uid is not of the class');
});

/** Reads the head and the extension back, or throws. */
function readCef(line: string): { readonly head: string[]; readonly fields: Map<string, string> } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u0008\u000a-\u001f\u007f]/.test(line)) throw new Error('a control inside');
  const head: string[] = [];
  let field = '';
  let at = 0;
  for (; at < line.length && head.length < 7; at++) {
    const letter = line[at] as string;
    if (letter === '\\') {
      const next = line[++at];
      if (next !== '\\' && next !== '|') throw new Error(`escape of ${String(next)} in the head`);
      field += next;
    } else if (letter === '|') {
      head.push(field);
      field = '';
    } else field += letter;
  }
  if (head.length !== 7) throw new Error('seven fields before the extension');
  const fields = new Map<string, string>();
  const rest = line.slice(at);
  // a key begins where an unescaped equals sign follows it
  const marks = [...rest.matchAll(/(?:^| )([A-Za-z0-9]+)=/g)].filter((found) => !found[0].slice(0, -1).endsWith('\\'));
  for (const [index, mark] of marks.entries()) {
    const from = mark.index + mark[0].length;
    const raw = rest.slice(from, marks[index + 1]?.index ?? rest.length);
    if (/(?<!\\)(?:\\\\)*=/.test(raw)) throw new Error(`an equals sign without escape in ${mark[1]}`);
    const value = raw.replaceAll(/\\(.)/g, (_, one: string) => {
      if (!['\\', '=', 'n'].includes(one)) throw new Error(`escape of ${one}`);
      return one === 'n' ? '\n' : one;
    });
    fields.set(mark[1] ?? '', value);
  }
  return { head, fields };
}

run('SIEM 1: CEF can be read back', (event) => {
  const { head, fields } = readCef(toCef(event));
  if (head[0] !== 'CEF:0' || !/^(\d|10)$/.test(head[6] ?? '')) throw new Error(head.join());
  if (fields.get('externalId') !== event.id) throw new Error('the id');
  const path = event.request?.path
    .replaceAll('\u0000', '')
    .replaceAll('\u001b', ' ')
    .replaceAll(/\r\n|\r|\n/g, '\n');
  if (path !== undefined && fields.get('request')?.startsWith(path) !== true) throw new Error('the request');
});

/** RFC 5424 section 6, as a reader. */
const printable = (charsMax: number): string => `([!-~]{1,${charsMax}})`;
const structured = String.raw`(-|\[gatehouse@[\d.]+(?: [a-z]+="(?:[^"\\\]]|\\["\\\]])*")*\])`;
const syslogForm = new RegExp(
  String.raw`^<(\d{1,3})>1 (\S+) ${[255, 48, 128, 32].map(printable).join(' ')} ${structured}(?: ([^]*))?$`,
);

run('SIEM 1: RFC 5424 has the form of the standard, with a mark before UTF-8', (event) => {
  const line = toRfc5424(event, { ...defaultSyslog, host: 'Rechner ü', appName: 'a'.repeat(60) });
  const found = syslogForm.exec(line);
  if (found === null) throw new Error(line);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(line)) throw new Error('a control, which files and terminals obey');
  if (Number(found[1]) > 191 || Number.isNaN(Date.parse(found[2] ?? ''))) throw new Error('priority or time');
  if (found[8]?.startsWith('\ufeff') !== true) throw new Error('a message in UTF-8 begins with a mark');
  const id = / id="([^"]+)"/.exec(found[7] ?? '')?.[1];
  if (id !== event.id) throw new Error('the id');
  const carried = toRfc5424(event, defaultSyslog, toCef(event));
  if (!/^<\d+>1 \S+ \S+ gatehouse - \S+ - CEF:0\|/.test(carried)) throw new Error(carried);
});

t.test('SIEM 1: what people see of one event', async (t) => {
  t.match(toCef(plainEvent), /^CEF:0\|Gatehouse\|Gatehouse\|1\|942100\|SQL Injection Attack\|7\|rt=1772366400123 /);
  t.match(toCef(plainEvent), / src=192\.0\.2\.77 .* request=\/items\?q\\=tiger-query .* cn1=5 cn1Label=Anomaly Score/);
  t.match(toRfc5424(plainEvent, defaultSyslog), /^<131>1 2026-03-01T12:00:00\.123Z node-1 gatehouse - waf \[/);
  t.match(jsonFormats.ocsf(plainEvent), { class_uid: 4002, type_uid: 400_203, action_id: 2, disposition_id: 2 });
  const audit = { ...plainEvent, kind: 'audit', action: 'observed', request: null, rules: [] } as const;
  const details = { action: 'user.update', actor: 'boss@example.org', actor_id: 'u-1' };
  t.match(jsonFormats.ocsf({ ...audit, details }), {
    class_uid: 6003,
    type_uid: 600_303,
    actor: { user: { name: 'boss@example.org', uid: 'u-1' } },
    api: { operation: 'user.update' },
  });
  t.match(jsonFormats.ecs(audit), { event: { kind: 'event', category: ['configuration'], type: ['change'] } });
  const request = plainEvent.request;
  if (request === null) throw new Error('it has a request');
  for (const [host, name, number] of [
    ['shop.example:8443', 'shop.example', 8443],
    ['[2001:db8::1]:80', '[2001:db8::1]', 80],
    ['shop.example:99999', 'shop.example', undefined],
    ['"><script>', undefined, undefined],
  ] as const) {
    const told = { ...plainEvent, request: { ...request, host } };
    t.match(jsonFormats.ecs(told), { url: { domain: name, port: number } }, host);
    t.match(jsonFormats.ocsf(told), { http_request: { url: { hostname: name, port: number } } }, host);
  }
  t.match(jsonFormats.ecs(plainEvent), {
    event: { type: ['denied'] },
    source: { ip: '192.0.2.77' },
    url: { path: '/items' },
  });
});
