// What an organisation says of the attack graph itself changes chains at once; and chains as files. Over HTTP, on both
// databases.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation, type Body } from '../../testing/organisation.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function run(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const here = new Organisation(at, (await at.user('admin')).token);
  const shop = await here.application('Shop <&"');
  const other = await here.application('Other');
  const ssrf = await here.finding(shop, 'CWE-918', '=SSRF "in" <preview>', { reachable: true });
  const idor = await here.finding(shop, 'CWE-639', 'Statements of others can be read');
  const entry = { stage: 'entry', capability: 'xss' };
  const put = (id: string, override: Body | null, token?: string) =>
    here.call('PUT', `/graph/capabilities/${id}`, { override, reason: 'seen in a test' }, token);
  const hops = async () => (await here.chains()).chains.map(({ hops: all }) => all.map(({ vuln_id: id }) => id));

  await t.test('30.graph: a chain as a file of each kind', async (t) => {
    const file = async (format: string) => {
      const reply = await at.call('GET', `/api/v1/graph/attack-chains/export?format=${format}`, { token: here.token });
      t.equal(reply.status, 200, reply.text.slice(0, 200));
      return reply.text;
    };
    const [head, ...lines] = (await file('csv')).trim().split('\r\n');
    t.match(head, /^chain_id,chain,kind/);
    t.equal(lines.length, 2);
    t.match(lines[0], /'=SSRF/, 'no formula for a spreadsheet');
    t.strictSame(JSON.parse(await file('json')), await here.chains());
    const stix = JSON.parse(await file('stix')) as { objects: { type: string; id: string; object_refs?: string[] }[] };
    const ids = new Set(stix.objects.map(({ id }) => id));
    t.equal(ids.size, stix.objects.length);
    for (const { type, id, object_refs: refs = [] } of stix.objects) {
      t.match(id, new RegExp(`^${type}--[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`));
      t.ok(refs.every((ref) => ids.has(ref)));
    }
    t.equal(stix.objects.filter(({ type }) => type === 'grouping').length, 1);
    const svg = await file('svg');
    t.match(svg, /SSRF &quot;in&quot; &lt;preview&gt;/);
    t.notMatch(svg, /<preview>|Shop <&/);
    const drawn = await file('mermaid');
    t.match(drawn, /^flowchart TB\n/);
    t.match(drawn, /c0h0 --> c0h1/);
    t.notMatch(drawn, /<preview>/);
    t.match(await here.call('GET', '/graph/attack-chains/export?format=pdf'), { status: 422 });
    t.match(await here.call('GET', '/graph/attack-chains/export?application_id=999999'), { status: 404 });
  });

  await t.test('30.graph: a finding that is classified by hand', async (t) => {
    t.strictSame(await hops(), [[ssrf, idor]]);
    t.match(await put(idor, { stage: 'none' }), { status: 200, body: { own: { id: idor, stage: null } } });
    t.strictSame(await hops(), [], 'it brings an attacker no further');
    t.match(await put(idor, { stage: 'credential', capability: 'stored_secret' }), { status: 200 });
    t.strictSame(await hops(), [[ssrf, idor]], 'another stage');
    const { body } = await here.call('GET', '/graph/capabilities');
    t.match(body['own'], [{ id: idor, stage: 'credential', capability: 'stored_secret', reason: 'seen in a test' }]);
    t.match(await put(idor, null), { status: 200, body: { own: null } });
    t.strictSame(await hops(), [[ssrf, idor]]);
    for (const wrong of [{ stage: 'impact', capability: 'ssrf' }, { stage: 'entry' }, { ...entry, stage: 'none' }])
      t.match(await put(idor, wrong), { status: 422, body: { detail: /\/override\/capability/ } });
    t.equal((await put('999999', entry)).status, 404);
    t.equal((await put('CWE-0', entry)).status, 404);
    const entries = await database.sql<{ summary: string }[]>`select summary from audit_entries`;
    const audited = entries.filter(({ summary }) => summary.includes(`classified ${idor} as no step`));
    t.equal(audited.length, 1);
  });

  await t.test('30.graph: a weakness that is classified by hand, everywhere but where a finding is', async (t) => {
    t.match(await put('CWE-639', { stage: 'none' }), { status: 200, body: { own: { id: 'CWE-639' } } });
    t.strictSame(await hops(), []);
    t.equal((await put(idor, { stage: 'impact', capability: 'idor' })).status, 200);
    t.strictSame(await hops(), [[ssrf, idor]], 'what is said of the finding holds');
    t.equal((await put(idor, null)).status, 200);
    t.equal((await put('CWE-639', null)).status, 200);
    t.strictSame(await hops(), [[ssrf, idor]]);
  });

  await t.test('30.graph: own rules of toxic combinations', async (t) => {
    const slots = [{ any_of: ['ssrf'] }, { any_of: ['idor', 'stage:privesc'] }, { any_of: ['xss'], optional: true }];
    const rule = { slug: 'fetch-and-read', name: 'Fetch and read', slots, score_note: 'n' };
    const made = await here.call('POST', '/graph/toxic-rules', rule);
    t.match(made, { status: 201, body: { ...rule, pack: 'own', enabled: true } });
    t.ok((await here.chains()).chains.some(({ id }) => id === `chain:${shop}:toxic-fetch-and-read`));
    t.equal((await here.call('POST', '/graph/toxic-rules', rule)).status, 409, 'its slug is taken');
    for (const [wrong, status] of [
      [{ slug: 'container-escape' }, 409],
      [{ slots: [{ any_of: ['nothing'] }, { any_of: ['ssrf'] }] }, 422],
      [{ slots: [{ any_of: ['ssrf'] }, { any_of: ['xss'], optional: true }] }, 422],
      [{ slots: Array.from({ length: 4 }, () => ({ any_of: ['ssrf'] })) }, 422],
    ] as const)
      t.equal((await here.call('POST', '/graph/toxic-rules', { ...rule, slug: 'x-y', ...wrong })).status, status);
    const { items } = (await here.call('GET', '/graph/toxic-rules')).body as { items: Body[] };
    t.match(items.at(-1), { id: made.body['id'], slots });
    const path = `/graph/toxic-rules/${String(made.body['id'])}`;
    t.equal((await here.call('DELETE', path)).status, 204);
    t.equal((await here.call('DELETE', path)).status, 404);
    t.notOk((await here.chains()).chains.some(({ id }) => id.includes('toxic')));
  });

  await t.test('30.graph: who reaches a part says nothing of the whole, nor of the rest', async (t) => {
    await here.call('POST', '/rbac/roles', { name: 'grapher', permissions: ['view_findings', 'edit_graph'] });
    const person = await at.user('viewer');
    const items = [{ scope: 'application', scope_id: other, role: 'grapher' }];
    t.equal((await here.call('PUT', `/rbac/grants/${person.id}`, { items, confined: true })).status, 200);
    t.equal((await put(idor, entry)).status, 200);
    t.equal((await put(idor, entry, person.token)).status, 404);
    t.equal((await put('CWE-79', entry, person.token)).status, 403);
    t.strictSame((await here.call('GET', '/graph/capabilities', undefined, person.token)).body['own'], []);
  });
}

void onBothDatabases(t, 'own graph', run);
