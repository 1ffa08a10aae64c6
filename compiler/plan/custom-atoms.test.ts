// Rules of the settings must not cost a compile of the automata, and must match like any other.
import t from 'tap';
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset, type Inspector } from '#engine';
import { createInterpreter } from '#engine/compile';
import { emitArtifact } from '../artifact/emit.js';
import { compileProgram } from '../compile-program.js';
import type { CompileCache } from './database-compiler.js';

const shared = {
  path: 'rules/shared.conf',
  text:
    'SecRuleEngine On\n' +
    'SecRule ARGS "@rx (?i)union\\s+select" "id:1,phase:2,deny,status:403"\n' +
    'SecRule ARGS "@contains passwd" "id:2,phase:2,deny,status:403,t:lowercase"\n',
};
const own = (text: string) => [shared, { path: 'gatehouse/custom.conf', text }];

async function emit(sources: readonly { path: string; text: string }[], cache: CompileCache) {
  const { program } = compileProgram(sources);
  if (program === null) throw new Error('the rules of the test do not compile');
  return { program, ...(await emitArtifact(program, { cache, threads: 1 })) };
}

function ids(inspector: Inspector, uri: string, headers: readonly string[] = []): number[] {
  const transaction = inspector.begin(
    {
      method: 'GET',
      uri,
      protocol: 'HTTP/1.1',
      headers,
      clientIp: '192.0.2.1',
      clientPort: 1,
      serverIp: '192.0.2.2',
      serverPort: 80,
    },
    { uniqueId: 'x', nowMs: 0, store: createMemoryStore() },
  );
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, null);
  const verdict = inspector.finish(transaction);
  return [
    ...verdict.matched.map(({ rule }) => rule.id),
    ...(verdict.interruption === null ? [] : [verdict.interruption.ruleId]),
  ];
}

t.test('a custom rule compiles no database anew', async (t) => {
  const kept = new Map<string, Uint8Array>();
  let compiled = 0;
  const cache: CompileCache = {
    find: (key) => kept.get(key) ?? null,
    keep(key, bytes) {
      if (bytes.length > 20) compiled++; // shorter ones say how a pattern fits
      kept.set(key, bytes);
    },
  };
  await emit([shared], cache);
  t.ok(compiled > 0, 'the first compile is one');
  compiled = 0;
  const texts = [
    'SecRule ARGS "@contains zorkmid" "id:1000001,phase:2,deny,status:403,t:none"\n',
    'SecRule ARGS|REQUEST_HEADERS:User-Agent "@rx (?i)gr[uü]e+\\b" ' +
      '"id:1000001,phase:2,deny,status:403,t:none,t:urlDecodeUni"\n' +
      'SecRule REQUEST_COOKIES "@pm one two" "id:1000002,phase:1,deny,status:403"\n',
    'SecRule ARGS "@contains passwd" "id:1000003,phase:2,deny,status:403,t:lowercase"\n',
  ];
  for (const text of texts) {
    const { bytes, program } = await emit(own(text), cache);
    t.equal(compiled, 0, text);
    const ruleset = loadRuleset(bytes, hyperscanLibrary());
    const [fast, oracle] = [createCompiledInspector(ruleset), createInterpreter(program)];
    for (const uri of [
      '/?a=zorkmid',
      '/?a=ZORKMID',
      '/?a=grueee',
      '/?a=GRUE',
      '/?b=union%20select',
      '/?c=PASSWD',
      '/?d=lamp',
      '/?a=1&b=gru%65',
    ]) {
      for (const headers of [[], ['User-Agent', 'grue'], ['Cookie', 'x=two']])
        t.same(ids(fast, uri, headers), ids(oracle, uri, headers), `${uri} ${headers.join()}`);
    }
    fast.release();
    ruleset.release();
  }
});

t.test('hundreds of them are scanned with the rest', async (t) => {
  const { bytes, report } = await emit(
    own(
      Array.from(
        { length: 600 },
        (_, n) => `SecRule ARGS "@contains word-${n}-" "id:${1_000_000 + n},phase:2,deny,status:403,t:none"\n`,
      ).join(''),
    ),
    { find: () => null, keep: () => undefined },
  );
  t.ok(report.plan.databases.some(({ patterns }) => patterns >= 600));
  const ruleset = loadRuleset(bytes, hyperscanLibrary());
  const inspector = createCompiledInspector(ruleset);
  t.same(ids(inspector, '/?q=word-599-'), [1_000_599, 1_000_599]);
  inspector.release();
  ruleset.release();
});
