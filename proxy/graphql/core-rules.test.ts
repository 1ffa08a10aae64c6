// P2: the core rule set over ordinary GraphQL (fixtures/graphql), and over injections in its strings and variables, as
// the road has them inspected.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { automataCacheDirectory, root } from '#cli/environment/directories';
import {
  createFileCache,
  diskReader,
  emitArtifact,
  compileProgram,
  loadCoreRuleSet,
  renderPolicy,
  resolvePolicy,
} from '#compiler';
import { findCrs } from '#compiler/testing/core-rules';
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset, type RequestHead } from '#engine';
import { dataPlaneDefaults, requireSettings } from '#settings';
import { RequestInspection } from '../road/request-inspection.js';

interface Row {
  readonly id: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
  readonly operationName?: string;
  readonly transport?: 'get' | 'graphql';
}

const read = (name: string): string => readFileSync(join(root, `fixtures/graphql/${name}`), 'utf8');
const rows = read('ordinary.jsonl')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);
const injections = JSON.parse(read('injections.json')) as string[];

interface Sent {
  readonly head: RequestHead;
  readonly body: Buffer | null;
}

function toSent({ query, variables, operationName, transport }: Row): Sent {
  const type = transport === 'graphql' ? 'application/graphql' : 'application/json';
  const isGet = transport === 'get';
  const whole = { ...(operationName === undefined ? {} : { operationName }), query, ...(variables && { variables }) };
  const text = transport === 'graphql' ? query : JSON.stringify(whole);
  const search = Object.entries(whole)
    .map(([name, value]) => `${name}=${encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))}`)
    .join('&');
  const body = isGet ? null : Buffer.from(text, 'utf8');
  const headers = ['Host', 'shop.example', 'Accept', '*/*', 'User-Agent', 'Mozilla/5.0 (X11; Linux x86_64)'];
  if (body !== null) headers.push('Content-Type', type, 'Content-Length', String(body.length));
  const line = { method: isGet ? 'GET' : 'POST', uri: isGet ? `/graphql?${search}` : '/graphql' };
  return {
    head: {
      ...line,
      protocol: 'HTTP/1.1',
      headers,
      clientIp: '192.0.2.7',
      clientPort: 40_000,
      serverIp: '',
      serverPort: 80,
    },
    body,
  };
}

t.setTimeout(600_000);
const crs = findCrs();
t.test('P2: GraphQL under the core rule set', { skip: crs === null && 'no rule set: set CRS_DIR' }, async (t) => {
  const loaded = loadCoreRuleSet(crs as string, diskReader);
  const { policy } = resolvePolicy(requireSettings({}), loaded.crs as NonNullable<typeof loaded.crs>);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
  const cache = createFileCache(automataCacheDirectory());
  const { bytes } = await emitArtifact(program as NonNullable<typeof program>, { cache });
  const ruleset = loadRuleset(bytes, hyperscanLibrary());
  const inspector = createCompiledInspector(ruleset);
  t.teardown(() => {
    inspector.release();
    ruleset.release();
  });
  const config = dataPlaneDefaults();
  const inspect = ({ head, body }: Sent, isRaw = false) => {
    const framing = body === null ? ({ kind: 'none' } as const) : ({ kind: 'length', bytes: body.length } as const);
    const request = { head, requestId: 'x', atMs: 0, given: [], exchange: { tls: null, framing } };
    const given = isRaw ? request : { ...request, generation: { config } };
    const inspection = new RequestInspection({ inspector } as never, given, {
      ...{ engineMode: null, policy: null, name: 'shop', prefix: '' },
    });
    inspection.requestHead(createMemoryStore());
    inspection.requestBody(body, body?.length ?? 0);
    const verdict = inspection.finish();
    t.equal(inspection.failure, null);
    return { isBlocked: verdict?.kind === 'block', ids: verdict?.matched.map(({ rule }) => Number(rule.id)) ?? [] };
  };

  t.ok(rows.length >= 200, `${rows.length} queries`);
  const raw = rows.filter((row) => inspect(toSent(row), true).isBlocked);
  t.ok(raw.length > 0, `${raw.length} would be blocked for their punctuation`);
  for (const row of rows) {
    const { isBlocked, ids } = inspect(toSent(row));
    t.same(
      { isBlocked, ids: ids.filter((id) => id === 932_235 || id === 942_190) },
      { isBlocked: false, ids: [] },
      `${row.id}: ${ids.join(' ')}`,
    );
  }
  const escaped = (text: string): string =>
    [...text].map((unit) => `\\u${(unit.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('');
  const quoted = (text: string): string => JSON.stringify(text);
  for (const text of injections) {
    const asText: Row[] = [
      { id: 'variable', query: 'query A($x: String) { a(x: $x) { id } }', variables: { x: text } },
      {
        id: 'nested variable',
        query: 'mutation A($i: I!) { a(i: $i) { id } }',
        variables: { i: { deep: [{ x: text }] } },
      },
      { id: 'string', query: `{ a(x: ${quoted(text)}) { id } }` },
      { id: 'string beside others', query: `query B { p(n: "one") { id } a(x: ["two", ${quoted(text)}]) { id } }` },
      { id: 'block string', query: `{ a(x: """${text}""") { id } }` },
      {
        id: 'escaped',
        query: `{ a(x: "${escaped(text)}") { id } }`,
      },
      { id: 'comment', query: `# ${text}\n{ a }` },
      { id: 'default', query: `query C($x: String = ${quoted(text)}) { a(x: $x) }` },
      { id: 'directive', query: `{ a @d(x: ${quoted(text)}) }` },
      { id: 'operationName', query: '{ a }', operationName: text },
      { id: 'the query itself', query: text },
    ];
    for (const row of asText)
      for (const transport of [undefined, 'get', 'graphql'] as const) {
        if (transport === 'graphql' && (row.variables ?? row.operationName) !== undefined) continue;
        const { isBlocked } = inspect(toSent({ ...row, ...(transport && { transport }) }));
        t.ok(isBlocked, `${transport ?? 'json'}: ${text} as ${row.id}`);
      }
  }

  // U5: the same bytes at a path that is no endpoint: rules see every name, as if nobody had heard of GraphQL.
  const dressed = [
    '{ a UNION ALL SELECT password FROM users }',
    'query { SELECT password FROM information_schema tables WHERE a sleep(a: 5) }',
    '{ xp_cmdshell(a: 1) UNION SELECT login FROM sysusers }',
    'mutation { exec(a: 1) master xp_cmdshell UNION ALL SELECT name FROM mysql user }',
    '{ passthru(a: 1) shell_exec(b: 2) base64_decode(c: 3) }',
  ];
  let stopped = 0;
  for (const query of dressed)
    for (const transport of [undefined, 'get', 'graphql'] as const)
      for (const path of ['/search', '/search.php/graphql', '/graphql/../search', '/graphql/search']) {
        const { head, body } = toSent({ id: 'dressed', query, ...(transport && { transport }) });
        const request = { head: { ...head, uri: head.uri.replace('/graphql', path) }, body };
        const { isBlocked, ids } = inspect(request);
        t.same({ isBlocked, ids }, inspect(request, true), `${transport ?? 'json'} ${path}: ${query}`);
        if (isBlocked) stopped += 1;
      }
  t.ok(stopped >= 36, `${stopped} of 60 were blocked`);
});
