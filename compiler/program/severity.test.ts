// What a chain's severities mean: held to what libmodsecurity 3.0.9 printed for the same rules.
import t from 'tap';
import { createMemoryStore } from '#engine';
import { createInterpreter } from '#engine/compile';
import { programOf } from '../testing/rule-text.js';

function highestAfter(rules: string): { highest: string; logged: (number | null)[]; build: string } {
  const asking = `SecRule HIGHEST_SEVERITY "@rx ." "id:99,phase:1,pass,log,msg:'%{HIGHEST_SEVERITY} %{MODSEC_BUILD}'"`;
  const inspector = createInterpreter(programOf(`SecRuleEngine On\n${rules}\n${asking}\n`));
  const head = {
    method: 'GET',
    uri: '/ab',
    protocol: 'HTTP/1.1',
    headers: [],
    clientIp: '192.0.2.7',
    clientPort: 1,
    serverIp: '192.0.2.80',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
  inspector.requestHeaders(transaction);
  const { matched } = inspector.finish(transaction);
  const [highest = '', build = ''] = (matched.at(-1)?.msg ?? '').split(' ');
  return { highest, build, logged: matched.slice(0, -1).map(({ rule }) => rule.severity) };
}

const chain = (head: string, second: string, argument = 'b'): string =>
  `SecRule REQUEST_URI "@contains a" "id:1,phase:1,pass,log,chain${head}"\n` +
  `SecRule REQUEST_URI "@contains ${argument}" "t:none${second}"`;

t.test(
  'U15: every link of a matched chain counts for HIGHEST_SEVERITY, the first that has one is logged',
  async (t) => {
    for (const [rules, highest, logged] of [
      [chain(',severity:WARNING', ',severity:CRITICAL'), '2', [4]],
      [chain(',severity:CRITICAL', ',severity:WARNING'), '2', [2]],
      [chain('', ',severity:ALERT'), '1', [1]],
      [chain(',severity:EMERGENCY', ',severity:2', 'nothing'), '255', []],
      [chain('', ''), '255', [null]],
    ] as const)
      t.match(highestAfter(rules), { highest, logged }, rules);
  },
);

t.test('U15: MODSEC_BUILD has its leading zero', async (t) => {
  t.equal(highestAfter('').build, '030014100');
});
