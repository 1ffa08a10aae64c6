// A10: an exclusion of an argument covers what its value holds, and nothing that only is called like it: both engines.
import t from 'tap';
import { createMemoryStore } from '#engine';
import { createMemoryCache, createPair } from './testing/rule-text.js';

const form = ['Content-Type', 'application/x-www-form-urlencoded'];
const json = encodeURIComponent('{"name":"EVIL","deep":{"x":["EVIL"]},"text":"{\\"y\\":\\"EVIL\\"}"}');

/** Exclusion, query, body of a form, whether the rule matches. */
const rows: readonly (readonly [string, string, string, boolean])[] = [
  ['ARGS:filter', `filter=${json}`, '', false],
  ['ARGS:filter', '', `filter=${json}`, false],
  ['ARGS:Filter', '', `FILTER=${json}`, false],
  ['ARGS:/^filter$/', '', `filter=${json}`, false],
  ['ARGS:filter', '', `filter=${json}&filter.name=EVIL`, true],
  ['ARGS:filter', 'filter.name=EVIL', `filter=${json}`, true],
  ['ARGS:filter', '', `filter=${json}&other=${json}`, true],
  ['ARGS:filter', '', `filter.x=${json}`, true],
  ['ARGS:filter.name', '', `filter=${encodeURIComponent('{"name":"EVIL"}')}`, true], // the value as it came
  ['ARGS_POST:filter', `filter=${json}`, '', true],
];

t.test('exclusions of arguments that hold JSON', async (t) => {
  const cache = createMemoryCache();
  for (const [exclusion, query, body, isMatch] of rows) {
    const what = `!${exclusion} ${query} | ${body}`;
    const [byTarget, byControl] = [
      `SecRule ARGS|!${exclusion} "@contains EVIL" "id:1,phase:2,pass,log,t:none"`,
      `SecAction "id:2,phase:1,pass,nolog,ctl:ruleRemoveTargetById=1;${exclusion}"
SecRule ARGS "@contains EVIL" "id:1,phase:2,pass,log,t:none"`,
    ];
    for (const rules of [byTarget, byControl]) {
      const pair = await createPair(`SecRuleEngine On\nSecRequestBodyAccess On\n${rules}\n`, cache);
      for (const inspector of [pair.oracle, ...pair.variants.map((variant) => variant.inspector)]) {
        const peer = { clientIp: '192.0.2.7', clientPort: 1, serverIp: '192.0.2.80', serverPort: 80 };
        const head = { method: 'POST', uri: `/?${query}`, protocol: 'HTTP/1.1', headers: form, ...peer };
        const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
        inspector.requestHeaders(transaction);
        inspector.requestBody(transaction, Buffer.from(body));
        t.equal(inspector.finish(transaction).matched.length > 0, isMatch, what);
      }
      pair.release();
    }
  }
});
