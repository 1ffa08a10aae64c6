// P4: the scan of a document in a pipeline: its rules, gates and formats, and the gate script as a pipeline runs it.
import t from 'tap';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SaxesParser } from 'saxes';
import { root } from '#cli/environment/directories';
import { readSpecification } from '../../spec/document/read.js';
import { startTestApp } from '../../testing/app.js';
import { onBothDatabases } from '../../testing/databases.js';
import { makeDirectory } from '../../testing/temporary.js';
import { postureScore, scanModel } from './rules.js';

const head = `openapi: 3.1.0
info: {title: "A <b> & \\"c\\"", version: '1'}
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
`;
const answers = 'responses: {default: {description: any}}';
const id = 'parameters: [{name: id, in: path, required: true, schema: {type: string}}]';
const document = `${head}paths:
  /catalogue:
    get: {${answers}}
    post: {${answers}}
  /admin/reports:
    get: {${answers}}
  /things/{id}:
    ${id}
    get: {${answers}}
    delete: {security: [{token: []}], ${answers}}
  /me:
    get: {security: [{token: []}], ${answers}}
`;

const rulesOf = (text: string): string[] => {
  const read = readSpecification(text);
  if (read.kind !== 'read') throw new Error(JSON.stringify(read.problems));
  return scanModel(read.specification.model).map(({ rule, method, path }) => `${rule} ${method} ${path}`);
};
const one = (path: string, item: string, more = ''): string[] =>
  rulesOf(`${head}${more}paths:\n  ${path}:\n    ${item}\n`).map((text) => text.split(' ')[0] as string);

t.test('P4: rules', async (t) => {
  t.same(rulesOf(document), [
    'missing-auth GET /catalogue',
    'unprotected-write POST /catalogue',
    'sensitive-no-auth GET /admin/reports',
    'bola-risk GET /things/{id}',
    'bola-review DELETE /things/{id}',
  ]);
  const global = 'security: [{token: []}]\n';
  t.same(one('/a', `get: {${answers}}`, global), []);
  t.same(one('/a', `get: {security: [], ${answers}}`, global), ['missing-auth'], 'taken away again');
  t.same(one('/a', `get: {security: [{token: []}, {}], ${answers}}`), ['missing-auth'], 'optional');
  t.same(one('/login', `post: {security: [], ${answers}}`, global), [], 'open by nature, and says so');
  t.same(one('/login', `post: {${answers}}`), ['missing-auth']);
  t.same(one('/healthz', `get: {security: [], ${answers}}`), []);
  const kind = 'parameters: [{name: kind, in: path, required: true, schema: {enum: [a, b]}}]';
  t.same(one('/list/{kind}', `get: {security: [{token: []}], ${kind}, ${answers}}`), [], 'a choice is no object');
  const schema =
    'responses: {"200": {description: x, content: {application/json: {schema: {properties: {cardNumber: {}}}}}}}';
  t.same(one('/a', `get: {${schema}}`), ['sensitive-no-auth'], 'by a member');
  t.equal(postureScore(0, []), 100);
  const read = readSpecification(document);
  if (read.kind === 'read') t.equal(postureScore(6, scanModel(read.specification.model)), 41);
});

t.test('P4: over HTTP and in the gate script', (t) =>
  onBothDatabases(t, 'ci-scan', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { token } = await at.user('viewer');
    const headers = { 'content-type': 'application/yaml' };
    const scan = (query = '', body: unknown = document, own: Record<string, string> = headers) =>
      at.call('POST', `/api/ci-scan${query}`, { token, body, headers: own });
    t.match(await scan(), {
      status: 200,
      body: {
        ...{ passed: false, posture_score: 41, operations: 6, high: 3, medium: 1, low: 1 },
        breaches: [/3 findings are high, 0 are allowed/, /1 findings are medium/],
        findings: [{ rule: 'missing-auth', line: 6, severity: 'medium', owasp: 'API2:2023' }, {}, {}, {}, {}],
      },
    });
    t.match((await scan('?max_high=3&max_medium=1')).body, { passed: true, breaches: [] });
    t.match((await scan('?max_high=2&max_medium=1')).body, { passed: false });
    const envelope = { spec: document, max_high: 3, max_medium: 1 };
    t.match((await scan('', envelope, {})).body, { passed: true }, 'gates in the body');
    t.match((await scan('?max_high=0', envelope, {})).body, { passed: false }, 'the query wins');
    t.match(await scan('', { spec: document, max_high: -1 }, {}), {
      status: 400,
      body: { errors: [{ path: '/max_high' }] },
    });
    t.equal((await scan('?max_high=-1')).status, 400);
    t.match(await scan('', 'openapi: 3.1.0\n'), { status: 422 });
    t.equal((await at.call('POST', '/api/ci-scan', { token: null, body: document, headers })).status, 401);

    const sarif = await scan('?format=sarif&file=api/openapi.yaml');
    t.match(sarif.headers['content-type'], 'application/sarif+json');
    const [run] = (JSON.parse(sarif.text) as { runs: Record<string, any>[] }).runs;
    t.equal((JSON.parse(sarif.text) as { version: string }).version, '2.1.0');
    const results = (run?.['results'] ?? []) as Record<string, any>[];
    t.equal(results.length, 5);
    for (const result of results) t.equal(run?.['tool'].driver.rules[result['ruleIndex']].id, result['ruleId']);
    t.match(run?.['results'][1], {
      level: 'error',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'api/openapi.yaml' }, region: { startLine: 7 } } }],
    });
    t.equal((await scan('?file=my%20api%23v1.yaml')).body['file'], 'my api#v1.yaml', 'P5: JSON names the file');
    t.equal((await scan('', { ...envelope, file: 'x.json' }, {})).body['file'], 'x.json', 'P5: by an envelope');
    t.match(await scan('', { spec: document, file: 7 }, {}), { status: 400, body: { errors: [{ path: '/file' }] } });
    const oddName = await scan('?format=sarif&file=./my%20api%23v1%3F.yaml');
    t.match(oddName.text, '"uri":"my%20api%23v1%3F.yaml"', 'P5: as a reference in SARIF');
    const junit = await scan('?format=junit&file=a%26b.yaml');
    t.match(junit.headers['content-type'], 'application/xml');
    const names: string[] = [];
    const classes = new Set<string>();
    const parser = new SaxesParser();
    parser.on('error', (error) => t.fail(error.message));
    parser.on('opentag', ({ name, attributes }) => {
      names.push(name);
      if (name === 'testcase') classes.add(String(attributes['classname']));
    });
    parser.write(junit.text).close();
    t.equal(names.filter((name) => name === 'testcase').length, 6);
    t.same([...classes], ['a&b.yaml'], 'P5: JUnit names the file');
    t.equal(names.filter((name) => name === 'failure').length, 5, 'four operations and the gates');

    const directory = await makeDirectory(t, 'gate');
    const spec = join(directory, 'open api.yaml');
    await writeFile(spec, document);
    await at.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = at.app.server.address() as AddressInfo;
    const here = { BASE_URL: `http://127.0.0.1:${port}/`, API_TOKEN: token };
    const gate = (args: readonly string[], env: Record<string, string> = here, shell: readonly string[] = ['sh']) =>
      new Promise<{ code: number; out: string }>((resolve) => {
        const given = { env: { PATH: process.env['PATH'] ?? '', ...env } };
        const [program = '', ...options] = shell;
        execFile(program, [...options, join(root, 'bin/ci-gate.sh'), ...args], given, (error, out, err) =>
          resolve({ code: error === null ? 0 : Number(error.code), out: out + err }),
        );
      });
    t.match(await gate([spec, '3', '1']), { code: 0, out: /^PASS .*score 41/ });
    const named = await gate([spec, '2', '1']);
    t.ok(named.out.startsWith(`FAIL ${spec}: score 41`), named.out);
    t.ok(named.out.includes(`\n${spec}:7: high `), 'P5: each line names the file that was given');
    t.notMatch(named.out, 'openapi.yaml');
    const odd = `${directory}/a&b=c#d%20"é 100%.yml`;
    await writeFile(odd, document);
    t.match((await gate([odd, '3', '1'])).out, `PASS ${odd}: score`, 'P5: whatever its name');
    for (const shell of [['dash'], ['busybox', 'sh'], ['bash', '--posix']])
      if (spawnSync(shell[0] as string, ['-c', 'true']).error === undefined)
        t.match(await gate([odd, '2', '1'], here, shell), { code: 1, out: `FAIL ${odd}: score` }, shell.join(' '));
    const deep = join(directory, 'd'.repeat(200), 'e'.repeat(200));
    await mkdir(deep, { recursive: true });
    await writeFile(join(deep, 'shop.yaml'), document);
    t.match((await gate([join(deep, 'shop.yaml'), '3', '1'])).out, /^PASS shop\.yaml: /, 'P5: a long path by its end');
    t.match(await gate([spec, '2', '1']), { code: 1, out: /^FAIL .*\n3 findings are high/ });
    t.match(await gate([spec, '3', '0']), { code: 1 });
    t.match(await gate([spec, '3']), { code: 2, out: /usage:/ });
    t.match(await gate([spec, '3', 'x']), { code: 2, out: /MAX_MEDIUM is "x"/ });
    t.match(await gate([spec, '-1', '0']), { code: 2 });
    t.match(await gate([`${spec}.none`, '1', '1']), { code: 2, out: /no file/ });
    t.match(await gate([spec, '1', '1'], { BASE_URL: here.BASE_URL }), { code: 2, out: /API_TOKEN is not set/ });
    t.match(await gate([spec, '1', '1'], { API_TOKEN: token }), { code: 2, out: /BASE_URL is not set/ });
    t.match(await gate([spec, '1', '1'], { ...here, API_TOKEN: 'wrong' }), {
      code: 2,
      out: /refused the scan \(401\)/,
    });
    const refusedOf = async (args: readonly string[], env?: Record<string, string>) => {
      const { code, out } = await gate(args, env);
      t.equal(code, 2, 'N3: the exit code of a refusal stays');
      t.notMatch(out, /[{}]|"detail"|\\"/, 'N3: no raw JSON');
      return out;
    };
    t.match(await refusedOf([spec, '1', '1'], { ...here, API_TOKEN: 'wrong' }), /\nci-gate: [A-Z][^\n]+\.\n$/);
    await writeFile(join(directory, 'bad.yaml'), 'a: [');
    t.match(await gate([join(directory, 'bad.yaml'), '1', '1']), { code: 2, out: /refused the scan \(4/ });
    const bad = await refusedOf([join(directory, 'bad.yaml'), '1', '1']);
    t.match(bad, /\nci-gate: \S[^\n]+\n {2}\S/, 'N3: the message, and the place with its fix');
    await at.app.close();
    t.match(await gate([spec, '3', '1']), { code: 3, out: /cannot be reached/ });
  }),
);
