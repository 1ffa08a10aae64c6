// A process beside the control plane begins with the program that was put together, where there is one.
import { existsSync } from 'node:fs';
import t from 'tap';
import { putTogether } from './put-together.js';

const built = new URL('../../', import.meta.url);

t.test('processes of the control plane load what is put together', async (t) => {
  for (const [own, name] of [
    ['api/change/compile-entry.js', 'api-change-compile-entry'],
    ['api/ingest/digest-process.js', 'api-ingest-digest-process'],
  ] as const) {
    const fused = new URL(`fused/${name}.js`, built);
    t.ok(existsSync(fused), `${name} is there`);
    t.equal(putTogether(new URL(own, built)).href, fused.href);
    t.equal(putTogether(fused).href, fused.href);
  }
});

t.test('what is not put together is loaded as it is', async (t) => {
  for (const own of [new URL('api/server.js', built), new URL('file:///elsewhere/worker.js')])
    t.equal(putTogether(own).href, own.href);
});
