// `gatehouse explain` on rules and requests of its own, and on the rules that serve.
import { mkdirSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { emitArtifact } from '#compiler';
import { pipeline, resolveProxyConfig } from '#proxy/contract';
import { loadRules } from '../rules/load-rules.js';
import { attack, captured, engine, rules, setup } from '../testing/rule-command.js';
import { runExplain } from './explain.js';

t.test('explain tells what matched and why', async (t) => {
  const { at } = setup(t);
  const told = await captured(() => runExplain([at('request', attack), '--rules', at('r.conf', rules), ...engine]));
  t.equal(told.code, 0);
  for (const part of [
    'POST /p HTTP/1.1',
    'body of 10 bytes read as URLENCODED',
    '1  phase 2  CRITICAL  score -  seen REQUEST_METHOD',
    'r.conf:4',
    'Verdict: BLOCK: deny, status 403, by rule 1 in phase 2',
  ])
    t.ok(told.text.includes(part), part);
  const json = await captured(() => runExplain([at('request'), '--rules', at('r.conf'), ...engine, '--json']));
  t.match(JSON.parse(json.text), { verdict: 'block', matched: [{ id: 1, severity: 'CRITICAL' }], phases: [1, 2, 5] });
  const benign = await captured(() =>
    runExplain([at('benign', 'GET /\x1b[2J HTTP/1.1\r\nHost: a\r\n\r\n'), '--rules', at('r.conf'), ...engine]),
  );
  t.ok(
    benign.text.includes('No rule matched.') && benign.text.includes('\\x1b') && !benign.text.includes('\x1b'),
    'a request cannot steer the terminal',
  );
});

t.test('U11: explain prints what each match adds to the score', async (t) => {
  const { at } = setup(t);
  const scoring = `SecRuleEngine On
SecAction "id:10,phase:1,pass,nolog,setvar:tx.critical_anomaly_score=5,setvar:tx.blocking_inbound_anomaly_score=0"
SecRule ARGS "@contains a" "id:11,phase:2,pass,log,msg:'one',\\
  setvar:tx.inbound_anomaly_score_pl1=+%{tx.critical_anomaly_score}"
SecRule ARGS "@contains a" "id:12,phase:2,pass,log,msg:'two',chain"
  SecRule ARGS "@contains b" "setvar:tx.anomaly_score_pl2=+3,setvar:tx.other=+9"
SecAction "id:13,phase:5,pass,nolog,setvar:tx.blocking_inbound_anomaly_score=%{tx.inbound_anomaly_score_pl1}"
`;
  const request = at('scored', 'GET /?q=ab HTTP/1.1\r\nHost: a\r\n\r\n');
  for (const choice of [engine, []]) {
    const args = [request, '--rules', at('scores.conf', scoring), ...choice];
    const { text } = await captured(() => runExplain(args));
    t.match(text, /^11 {2}phase 2 {2}- {2}score \+5 {2}one$/m);
    t.match(text, /^12 {2}phase 2 {2}- {2}score \+3 {2}two$/m);
    t.match(text, /^Score: inbound 5, outbound 0\./m);
    const json = JSON.parse((await captured(() => runExplain([...args, '--json']))).text) as object;
    t.match(json, {
      inboundScore: 5,
      matched: [
        { id: 11, score: 5 },
        { id: 12, score: 3 },
      ],
    });
  }
});

t.test('explain asks the rules that serve; before any did, those of the settings', async (t) => {
  const { at } = setup(t);
  for (const folder of ['data', 'data/artifacts']) mkdirSync(at(folder));
  const { GATEHOUSE_DATA } = process.env;
  process.env['GATEHOUSE_DATA'] = at('data');
  t.teardown(
    () =>
      void (GATEHOUSE_DATA === undefined
        ? delete process.env['GATEHOUSE_DATA']
        : (process.env['GATEHOUSE_DATA'] = GATEHOUSE_DATA)),
  );
  const { program } = loadRules([at('r.conf', rules)]);
  const { bytes, hash } = await emitArtifact(program);
  writeFileSync(at(`data/artifacts/${hash}`), bytes);
  at('data/settings.json', '{"mode":"Maybe"}');
  at('data/current.json', JSON.stringify({ id: 7, sha256: hash }));
  const told = await captured(() => runExplain([at('request', attack), ...engine]));
  t.match(told.text, /by rule 1 in phase 2\nRules: generation 7 of .*current\.json$/);
  t.match(JSON.parse((await captured(() => runExplain([at('request'), ...engine, '--json']))).text), {
    rules: /^generation 7/,
    verdict: 'block',
  });
  at('data/current.json', JSON.stringify({ id: 8, sha256: '0'.repeat(64) }));
  await t.rejects(
    runExplain([at('request'), ...engine]),
    /current\.json: the rules that it names cannot be read \(ENOENT.*Give --settings/,
  );
  at('data/current.json', JSON.stringify({ id: 9, sha256: '' }));
  await t.rejects(runExplain([at('request'), ...engine]), /settings\.json|no rule set/, 'it serves without rules');
});

t.test('10.3: explain tells what each gate decides, in their order, with its numbers', async (t) => {
  const { at } = setup(t);
  for (const folder of ['data', 'data/artifacts']) mkdirSync(at(folder));
  const { GATEHOUSE_DATA } = process.env;
  process.env['GATEHOUSE_DATA'] = at('data');
  t.teardown(() => {
    if (GATEHOUSE_DATA === undefined) delete process.env['GATEHOUSE_DATA'];
    else process.env['GATEHOUSE_DATA'] = GATEHOUSE_DATA;
  });
  const { program } = loadRules([at('r.conf', rules)]);
  const { bytes, hash } = await emitArtifact(program);
  writeFileSync(at(`data/artifacts/${hash}`), bytes);
  const serve = (settings: object): string => {
    const { config, problems } = resolveProxyConfig(settings, { customer: '', payment: '' });
    t.strictSame(problems, []);
    return at('data/current.json', JSON.stringify({ id: 7, sha256: hash, config }));
  };
  const sites = [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true }];
  serve({ sites, rl_enabled: true, auth_enabled: true, auth_protected_paths: ['/p'], bot_action: 'block' });
  const request = at('request', attack);
  const { text } = await captured(() => runExplain([request, ...engine]));
  t.match(text, /^Gates of the site shop/m);
  t.match(text, /^ {2}rate-zones +pass$/m);
  t.match(text, /^ {2}flood-burst +off$/m);
  t.match(text, /^ {2}site-auth +deny \(401, rule 10100\d\d\)$/m);
  t.match(text, /^ {2}bots +not asked$/m);
  const json = JSON.parse((await captured(() => runExplain([request, ...engine, '--json']))).text) as {
    readonly gates: readonly { readonly gate: string; readonly decision: string }[];
  };
  t.strictSame(
    json.gates.map(({ gate }) => gate),
    pipeline.filter(({ kind }) => kind === 'gate').map(({ name }) => name),
    'the order that GET /api/pipeline shows',
  );
  t.match(
    json.gates.find(({ gate }) => gate === 'site-auth'),
    { decision: 'deny', status: 401, enforced: true },
  );
  serve({ sites: [{ ...sites[0], prefix: '/elsewhere' }] });
  t.match((await captured(() => runExplain([request, ...engine]))).text, /^Gates: none is asked, no site/);
});

t.test('U5: explain shows rules the GraphQL that the data plane shows them', async (t) => {
  const { at } = setup(t);
  for (const folder of ['data', 'data/artifacts']) mkdirSync(at(folder));
  const { GATEHOUSE_DATA } = process.env;
  process.env['GATEHOUSE_DATA'] = at('data');
  t.teardown(() => {
    if (GATEHOUSE_DATA === undefined) delete process.env['GATEHOUSE_DATA'];
    else process.env['GATEHOUSE_DATA'] = GATEHOUSE_DATA;
  });
  const named = `SecRuleEngine On
SecRule ARGS "@contains hidden" "id:1,phase:2,deny,status:403,log,msg:'seen'"
`;
  const { bytes, hash } = await emitArtifact(loadRules([at('n.conf', named)]).program);
  writeFileSync(at(`data/artifacts/${hash}`), bytes);
  const sites = [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true }];
  const serve = (settings: object): string => {
    const { config } = resolveProxyConfig({ sites, ...settings }, { customer: '', payment: '' });
    return at('data/current.json', JSON.stringify({ id: 7, sha256: hash, config }));
  };
  const ask = async (target: string, ...flags: string[]): Promise<string> => {
    const request = at('graphql', `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    return (await captured(() => runExplain([request, ...engine, ...flags]))).text;
  };
  serve({});
  const endpoint = await ask('/graphql?query={hidden}');
  t.match(endpoint, /^GraphQL query:anonymous: rules saw the strings, comments and variables/m);
  t.match(endpoint, /No rule matched/);
  const elsewhere = await ask('/search?query={hidden}');
  t.match(elsewhere, /^GraphQL query:anonymous: rules saw the document as it came/m);
  t.match(elsewhere, /Verdict: BLOCK/);
  t.notMatch(await ask('/?a=1'), /^GraphQL/m);
  serve({ graphql_protect: true, graphql_paths: ['/search'] });
  t.match(await ask('/search?query={hidden}'), /No rule matched/);
  t.match(await ask('/search?query={__schema{types{name}}}'), /introspection is not offered \(rule 1006510\)/);
  t.match(JSON.parse(await ask('/search?query={__schema{types{name}}}', '--json')), {
    graphql: { operation: 'query:anonymous', texts_only: true, refused_by: 1_006_510 },
  });
  const { config } = resolveProxyConfig({ sites }, { customer: '', payment: '' });
  const { graphqlPaths: _, ...older } = config as NonNullable<typeof config>;
  at('data/current.json', JSON.stringify({ id: 7, sha256: hash, config: older }));
  t.match(await ask('/graphql?query={hidden}'), /No rule matched/, 'a configuration of an earlier release');
});
