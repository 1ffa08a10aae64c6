// What both APIs offer, against the lines that are committed: every change of a method, a path or a schema shows in a
// review. UPDATE=1 writes them anew. The whole documents are built: build/openapi/.
import { readFile, writeFile } from 'node:fs/promises';
import t from 'tap';
import { describeApis, type OpenApiDocument } from './describe.js';
import { surfaceOf } from './surface.js';

const fileOf = (name: string) => new URL(`../../../${name}/surface.txt`, import.meta.url); // from build/api/documents

t.test('what is offered is what is committed, and what is built', async (t) => {
  for (const [name, document] of Object.entries(await describeApis()) as [string, OpenApiDocument][]) {
    const lines = surfaceOf(document);
    if (process.env['UPDATE'] === '1') await writeFile(fileOf(name), `${lines.join('\n')}\n`);
    t.same(
      lines,
      (await readFile(fileOf(name), 'utf8')).trimEnd().split('\n'),
      `${name}: if that is what you meant: UPDATE=1 node bin/test.mjs documents/surface, and read the difference`,
    );
    const built = await readFile(new URL(`../../openapi/${name}.json`, import.meta.url), 'utf8');
    t.same(
      JSON.parse(built),
      document,
      `${name}: the document that was built is of these routes (node bin/build.mjs writes it)`,
    );
  }
});

t.test('a document does not depend on clock, installation or what is connected', async (t) => {
  const elsewhere = await describeApis({
    now: () => Date.parse('2031-05-06T07:08:09Z'),
    applySettings: async () => ({ kind: 'refused', reason: '', diagnostics: [] }),
    crsDirectory: '/nowhere',
    licencePublicKey: 'a key',
    loginsPerMinute: 7,
    env: {
      authSessionSecret: 'x'.repeat(40),
      settingsEncryptionSecret: 'y'.repeat(40),
      dataAdminToken: 'z'.repeat(40),
      trustedProxies: ['10.0.0.0/8'],
      consoleToken: null,
      breachedPasswordsUrl: 'http://other.invalid/range/',
      torExitsUrl: 'http://other.invalid/exits',
      brand: { name: 'Another brand', sub: 'X', tagline: 'Y' },
    },
  });
  const here = await describeApis();
  t.match(elsewhere.api, { info: { title: 'Another brand control plane' } });
  t.same({ ...elsewhere.api, info: here.api['info'] }, here.api);
  t.same({ ...elsewhere['vm-manager'], info: here['vm-manager']['info'] }, here['vm-manager']);
});

t.test('a line changes with what is passed, and with nothing else', async (t) => {
  const of = (over: object, schemas: object = { A: { type: 'object', properties: { title: { type: 'string' } } } }) =>
    surfaceOf({
      paths: { '/a': { get: { responses: { 200: { schema: { $ref: '#/components/schemas/A' } } }, ...over } } },
      components: { schemas },
    });
  const [line = ''] = of({});
  t.match(line, /^GET \/a [0-9a-f]{12}$/);
  t.same(of({ summary: 'Other words', description: 'x' }), [line], 'texts');
  t.notSame(of({ parameters: [{ name: 'q', in: 'query' }] }), [line], 'a parameter');
  t.notSame(of({}, { A: { type: 'object', properties: {} } }), [line], 'behind a reference; a property called title');
  t.match(of({}, { A: { items: { $ref: '#/components/schemas/A' } } }), [/^GET/], 'a schema that holds itself');
  t.throws(() => of({}, {}), /has no #\/components\/schemas\/A/);
});
