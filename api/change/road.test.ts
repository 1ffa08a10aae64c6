// From a saved setting to what a node answers.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { readState } from '../settings/state.js';
import { ask, attack, blockWord, startRoad } from '../testing/change-road.js';
import { startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';

async function wholeRoad(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const road = await startRoad(t, database, upstream, [node.url]);
  t.equal(await ask(node, '/?x=1'), 503, 'no rules yet: a protected site fails closed');

  await t.test('apply makes it serve; the same again changes nothing', async (t) => {
    const first = await road.apply();
    t.match(
      first,
      {
        status: 200,
        body: {
          applied: true,
          unchanged: false,
          version: 1,
          impact: null,
          impact_missing: /nothing was active before/,
          not_enforced_yet: [],
          nodes: [{ url: node.url, state: 'active' }],
        },
      },
      first.text,
    );
    t.equal(first.body['generation'], (await node.status())['generation']);
    t.equal(first.body['artifact_sha256'], (await node.status())['ruleset']);
    t.same([await ask(node, '/?x=1'), await ask(node, attack)], [200, 403]);
    const { generation } = first.body;
    t.match(
      await road.apply('?dry_run=true'),
      { body: { dry_run: true, unchanged: true, nodes: [] } },
      'a dry run says so beforehand',
    );
    t.match(await road.apply(), { status: 200, body: { applied: true, unchanged: true, generation } });
    await road.patch({ ti_tor_enabled: true });
    const silent = await road.apply();
    t.match(
      silent,
      { body: { unchanged: true, version: 2, not_enforced_yet: [] } },
      'what only the control plane needs changes no node, and every setting is enforced',
    );
    t.equal((await node.status())['generation'], generation);
    t.match(await road.call('GET', '/api/nodes', { token: road.admin }), {
      status: 200,
      body: { active_version: 2, items: [{ url: node.url, state: 'active', version: 2, generation, workers: 1 }] },
    });
  });

  await t.test('what is changed is what happens on the data port', async (t) => {
    await road.patch({ custom_rules: [blockWord(1_000_001, 'zorkmid')] });
    t.equal(await ask(node, '/?q=zorkmid'), 200, 'saved is not applied');
    t.match(await road.apply('?dry_run=true'), { body: { dry_run: true, unchanged: false } });
    t.match(await road.apply(), { status: 200, body: { unchanged: false, nodes: [{ state: 'active' }] } });
    t.equal(await ask(node, '/?q=zorkmid'), 403);
    await road.patch({
      rule_exclusions: [
        {
          id: 1_009_500,
          rule_id: 1_000_001,
          target: 'ARGS:q',
          path: '/notes',
          reason: 'people write about the game',
          owner: 'me',
        },
      ],
    });
    t.match((await road.apply()).body, { not_enforced_yet: [] });
    t.same(
      [await ask(node, '/notes?q=zorkmid'), await ask(node, '/notes?r=zorkmid'), await ask(node, '/?q=zorkmid')],
      [200, 403, 403],
      'an exclusion holds where it says and nowhere else',
    );
    await road.patch({ mode: 'DetectionOnly', rule_exclusions: [] });
    await road.apply();
    t.same([await ask(node, '/?q=zorkmid'), await ask(node, attack)], [200, 200]);
    await road.patch({
      mode: 'On',
      sites: [{ name: 'shop', prefix: '/shop', upstream }],
      categories: { sqli: { enabled: false } },
    });
    t.match((await road.apply()).body, { applied: true });
    t.same(
      [await ask(node, '/x'), await ask(node, '/shop/?q=zorkmid'), await ask(node, '/shop' + attack)],
      [404, 403, 200],
    );
  });

  await t.test(
    'U9: what cannot be used is not saved, and what an older program saved is not applied; both say where',
    async (t) => {
      const before = await node.status();
      const bad: readonly [body: object, path: string, message: RegExp][] = [
        [
          {
            custom_rules: [
              blockWord(1_000_001, 'ok'),
              { id: 1_000_002, name: 'raw', kind: 'raw', seclang: 'SecRule ARGS "@rx (" "id:1000002,phase:2,deny"' },
            ],
          },
          '/custom_rules/1/seclang',
          /column/,
        ],
        [
          { custom_rules: [{ ...blockWord(1_000_003, 'x'), operator: 'nosuch' }] },
          '/custom_rules/0/operator',
          /operator/,
        ],
        [
          { custom_rules: [{ id: 1_000_004, name: 'raw', kind: 'raw', seclang: 'SecRuleEngine Off' }] },
          '/custom_rules/0/seclang',
          /cannot stand/,
        ],
        [
          {
            custom_rules: [
              { ...blockWord(1_000_005, 'x'), tests: [{ name: 'wrong', expect: 'match', uri: '/?q=good' }] },
            ],
          },
          '/custom_rules/0/tests/0',
          /"wrong" of rule 1000005 expects match/,
        ],
        [
          { custom_rules: [], virtual_patches: [{ id: 1_007_001, cve: 'CVE-1999-0001' }] },
          '/virtual_patches/0/cve',
          /catalogue/,
        ],
      ];
      for (const [body, path, message] of bad) {
        t.match(await road.patch(body), { status: 422, body: { errors: [{ path }] } }, 'it is not saved');
        await road.store(body);
        for (const query of ['', '?dry_run=true']) {
          const reply = await road.apply(query);
          t.match(
            reply,
            {
              status: 422,
              body: { code: 'apply_refused', diagnostics: [{ severity: 'error', path, message, hint: /./ }] },
            },
            reply.text,
          );
        }
      }
      const broken = await road.patch({ virtual_patches: [], sites: [{ name: 'a', prefix: '/a//b', upstream }] });
      t.match(
        broken,
        { status: 422, body: { errors: [{ path: '/sites/0/prefix', reason: /plain path/ }] } },
        'not even saved',
      );
      const after = await node.status();
      t.same([after['generation'], after['ruleset']], [before['generation'], before['ruleset']]);
      t.match(await readState(database.sql), { pendingId: null });
      await road.patch({
        custom_rules: [],
        virtual_patches: [],
        rule_exclusions: [],
        sites: [],
        categories: { sqli: { enabled: true } },
      });
      const etag = String((await road.call('GET', '/api/settings', { token: road.admin })).headers['etag']);
      t.match(await road.apply('', { 'if-match': '"1-stale"' }), { status: 412, headers: { etag } });
      t.match(await road.apply('', { 'if-match': etag }), { status: 200 });
    },
  );

  await t.test('two who apply at once take turns', async (t) => {
    const before = Number((await node.status())['generation']);
    const replies = await Promise.all([
      road.apply(),
      road.apply(),
      road.patch({ inbound_threshold: 4 }).then(() => road.apply()),
      road.apply('?dry_run=true'),
    ]);
    t.same(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    t.ok(Number((await node.status())['generation']) <= before + 1, 'what is served already is not served again');
    t.match(await readState(database.sql), { pendingId: null });
  });

  await t.test('artifacts lie under their hash, without leftovers', async (t) => {
    const names = await readdir(join(road.data, 'artifacts'));
    t.ok(names.length >= 5);
    t.same(
      names.filter((name) => !/^[0-9a-f]{64}$/.test(name)),
      [],
    );
  });
}

t.test('the road of a change', (t) => onBothDatabases(t, 'the road', wholeRoad));
