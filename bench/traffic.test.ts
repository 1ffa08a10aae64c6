// The load must be what the report says it is: valid requests, right lengths, a stated share of fresh values.
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { createGenerator, encodeTemplates, loadPerfMix, measureFreshness, mix, parseRequest } from './traffic.js';

function seeded(): () => number {
  let state = 42;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 4_294_967_296;
}

t.test('every request of the mix is whole and new', (t) => {
  const generate = createGenerator(mix, seeded());
  const seen = new Set<string>();
  for (let index = 0; index < 100; index++) {
    const { raw } = generate();
    t.notOk(seen.has(raw), 'never the same twice');
    seen.add(raw);
    const { headers, body } = parseRequest(raw);
    const at = headers.indexOf('Content-Length');
    if (at >= 0) t.equal(Number(headers[at + 1]), body.length, 'Content-Length');
    if (headers.includes('application/json')) t.doesNotThrow(() => JSON.parse(body) as unknown, 'JSON');
  }
  t.end();
});

t.test('the share of values never seen before is 16 to 30 %', (t) => {
  const share = measureFreshness(mix, 500).newShare;
  t.ok(share >= 0.16 && share <= 0.3, `mix: ${(share * 100).toFixed(1)} %`);
  t.end();
});

const perfMix = loadPerfMix(fileURLToPath(new URL('../..', import.meta.url)));
t.test(
  'the performance mix keeps lengths, JSON and attacks',
  { skip: perfMix === null ? '../shared/corpora/traffic is not there' : false },
  (t) => {
    const templates = perfMix ?? [];
    t.equal(templates.length, 2000, 'every row became a template');
    const generate = createGenerator(templates, seeded());
    let wrong = 0;
    for (let index = 0; index < templates.length; index++) {
      const { headers, body } = parseRequest(generate().raw);
      const at = headers.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === 'content-length');
      if (at >= 0 && Number(headers[at + 1]) !== body.length) wrong++;
      if (headers.includes('application/json') && body !== '') JSON.parse(body);
    }
    t.equal(wrong, 0, 'wrong lengths');
    const share = measureFreshness(templates, 2000).newShare;
    t.ok(share >= 0.16 && share <= 0.3, `${(share * 100).toFixed(1)} % new`);
    t.ok(encodeTemplates(templates).length > 1_000_000, 'written for wrk');
    t.end();
  },
);
