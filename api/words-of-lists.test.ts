// Filters of lists that know their words take several, separated by commas or as a parameter that comes again.
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { startTestApp } from './testing/app.js';
import { onBothDatabases } from './testing/databases.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly enum?: string[]; readonly anyOf?: { readonly items?: { readonly enum?: string[] } }[] };
}
interface Operation {
  readonly parameters?: Parameter[];
  readonly responses: Record<
    string,
    { content?: Record<string, { schema?: { properties?: Record<string, unknown> } }> }
  >;
}

const document = JSON.parse(readFileSync(new URL('../openapi/api.json', import.meta.url), 'utf8')) as {
  paths: Record<string, { get?: Operation }>;
};

/** Every list, and its filters by words: what the document says of them. */
const lists = Object.entries(document.paths).flatMap(([path, { get }]) => {
  const { properties = {} } = get?.responses['200']?.content?.['application/json']?.schema ?? {};
  if (get === undefined || !('items' in properties) || path.includes('{')) return [];
  return (get.parameters ?? []).flatMap(({ name, in: where, schema }) => {
    const several = schema.anyOf?.find(({ items }) => items?.enum !== undefined)?.items?.enum;
    const words = several ?? schema.enum;
    return where !== 'query' || words === undefined ? [] : [{ path, name, words, isOne: several === undefined }];
  });
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const get = (url: string) => at.call('GET', url, { token });
  t.ok(lists.length >= 12, `${lists.length} filters`);
  for (const { path, name, words, isOne } of lists) {
    if (`${path}?${name}` === '/api/bans?state') continue; // `active` or `all`: one is within the other
    const [first = '', second = first] = words;
    t.equal(isOne, false, `${path} takes several words as ${name}`);
    for (const query of [`${name}=${first}`, `${name}=${first},${second}`, `${name}=${first}&${name}=${second}`])
      t.equal((await get(`${path}?${query}`)).status, 200, `${path}?${query}`);
    const refused = await get(`${path}?${name}=${first},nonsense`);
    t.equal(refused.status, 400, `${path}: ${refused.text.slice(0, 200)}`);
    t.equal((await get(`${path}?${name}=`)).status, 400, path);
  }

  // a row fits that has one of the words
  await database.sql.begin(async (tx) => {
    for (const role of ['viewer', 'operator', 'system'] as const)
      await at.parts.audit.record(tx, {
        actor: { id: null, name: 'x', role, sourceIp: '' },
        action: 'user.create',
        summary: 'words of lists',
      });
  });
  const roles = async (query: string): Promise<string[]> =>
    ((await get(`/api/audit?q=words%20of%20lists&${query}`)).body['items'] as { role: string }[])
      .map(({ role }) => role)
      .sort();
  t.same(await roles('role=viewer'), ['viewer']);
  t.same(await roles('role=viewer,system'), ['system', 'viewer']);
  t.same(await roles('role=viewer&role=operator,system'), ['operator', 'system', 'viewer']);
}

t.test('22 E: lists of words', (t) => onBothDatabases(t, 'words-of-lists', suite));
