// Rules over all request headers but some: what they leave out marks no rule, and what they do not leave out does, in
// whatever case its name comes. Values that are new in a request and values of the request before are asked alike.
import t from 'tap';
import { compareText, createMemoryCache, createPair } from './testing/rule-text.js';
import { createMemoryStore, type Inspector } from '#engine';

const rules = `SecRuleEngine On
SecRequestBodyAccess On
SecRule REQUEST_HEADERS|!REQUEST_HEADERS:User-Agent|!REQUEST_HEADERS:cookie "@rx wanted" "id:1,phase:1,pass,log"
SecRule REQUEST_HEADERS|!REQUEST_HEADERS:Referer "@rx (wanted)-([a-z]+)" \\
  "id:2,phase:2,pass,log,capture,setvar:tx.found=%{tx.2}"
SecRule REQUEST_HEADERS:Referer "@rx ^[^#]+" "id:3,phase:1,pass,nolog,capture,setvar:tx.address=%{tx.0},chain"
  SecRule TX:0 "@rx \\.([^.]+)$" "capture,setvar:tx.extension=%{tx.1}"
SecRule ARGS "@rx wanted" "id:4,phase:2,pass,log"
SecRule ARGS|ARGS_NAMES "@rx ." "id:5,phase:2,pass,nolog,setvar:tx.args=+1"`;

const names = ['User-Agent', 'USER-AGENT', 'Cookie', 'cOOkie', 'Referer', 'referer', 'X-Other', 'Accept'];
const requests = names.flatMap((name, at) => [
  { uri: `/?a=${at}wanted`, headers: ['Host', 'a.example', name, `wanted-${'abcdefgh'.charAt(at)}x`] },
  { uri: '/?b=nothing', headers: ['Host', 'a.example', name, `a.b/c.d#wanted${at}`, 'Accept', 'wanted\n'] },
  { uri: '/?wanted=2\n', headers: ['Referer', `x.${at}\n`, name, 'plain'] },
]);

t.test('both engines agree', async (t) => {
  t.same(await compareText(rules, [...requests, ...requests], createMemoryCache()), []);
});

function matchedBy(inspector: Inspector, name: string, uniqueId: string): number[] {
  const head = {
    method: 'GET',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Host', 'a.example', name, 'wanted-x'],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId, nowMs: 0, store: createMemoryStore() });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, null);
  return inspector.finish(transaction).matched.map(({ rule }) => rule.id);
}

t.test('a header counts for the rules that do not leave it out', async (t) => {
  const pair = await createPair(rules, createMemoryCache());
  for (const { name, inspector } of pair.variants) {
    t.same(matchedBy(inspector, 'user-AGENT', 'u1'), [2], name);
    t.same(matchedBy(inspector, 'REFERER', 'u2'), [1], name);
    t.same(matchedBy(inspector, 'X-Other', 'u3'), [1, 2], name);
  }
  pair.release();
});
