// Which generations a worker is told are proven: those whose very bytes another worker has loaded, and tested where a
// test is wanted.
import t from 'tap';
import type { GenerationPayload } from '../worker/messages.js';
import { resolveProxyConfig, upstreamDefaults } from '../contract/proxy-config.js';
import { ProvenArtifacts } from './proven-artifacts.js';

const { config } = resolveProxyConfig({}, upstreamDefaults({}));
const bytes = (): SharedArrayBuffer => new SharedArrayBuffer(8);
function payload(artifact: SharedArrayBuffer | null, selfTest: GenerationPayload['selfTest']): GenerationPayload {
  if (config === null) throw new Error('the defaults are no configuration');
  return { id: 1, sha256: 'a', artifact, config, selfTest };
}

t.test('nothing is proven before a worker has loaded it', (t) => {
  const proven = new ProvenArtifacts();
  const one = bytes();
  t.equal(proven.mark(payload(one, 'inspect')).isProven, undefined);
  proven.add(payload(one, 'inspect'));
  t.equal(proven.mark(payload(one, 'inspect')).isProven, true);
  t.equal(proven.mark(payload(one, 'skip')).isProven, true, 'a test that was passed and is not wanted does no harm');
  t.equal(proven.mark(payload(bytes(), 'inspect')).isProven, undefined, 'other bytes under the same name are not');
  t.equal(proven.mark(payload(null, 'skip')).isProven, undefined);
  t.end();
});

t.test('what was loaded without a self-test is tested where one is wanted', (t) => {
  const proven = new ProvenArtifacts();
  const one = bytes();
  proven.add(payload(one, 'skip'));
  t.equal(proven.mark(payload(one, 'inspect')).isProven, undefined);
  t.equal(proven.mark(payload(one, 'skip')).isProven, true);
  proven.add(payload(one, 'inspect'));
  proven.add(payload(one, 'skip'));
  t.equal(proven.mark(payload(one, 'inspect')).isProven, true, 'a proof is not forgotten');
  t.end();
});
