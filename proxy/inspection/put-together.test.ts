// A thread begins with the program that was put together, and nowhere else is anything looked for.
import { existsSync } from 'node:fs';
import t from 'tap';
import { putTogether } from './put-together.js';

const built = new URL('../../', import.meta.url);

t.test('threads of the data plane load what is put together', async (t) => {
  for (const [own, name] of [
    ['proxy/worker/worker.js', 'proxy-worker-worker'],
    ['proxy/inspection/engine-inspection.js', 'proxy-inspection-engine-inspection'],
  ] as const) {
    const fused = new URL(`fused/${name}.js`, built);
    t.ok(existsSync(fused), `${name} is there`);
    t.equal(putTogether(new URL(own, built)).href, fused.href);
  }
});

t.test('what is not put together is loaded as it is', async (t) => {
  const others = [
    new URL('proxy/inspection/inspection.js', built),
    new URL('fused/proxy-worker-worker.js', built),
    new URL('file:///elsewhere/worker.js'),
    new URL('data:text/javascript,0'),
  ];
  for (const own of others) t.equal(putTogether(own).href, own.href);
});
