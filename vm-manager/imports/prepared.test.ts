import t from 'tap';
import { RecordMask } from '../secrets/protect-record.js';
import { contentHash } from './fingerprint.js';
import { PreparedRecord } from './prepared.js';
import { record } from './record.js';

const secret = ['AKIA', 'QZ7RT5YWM2LKD4PX'].join('');
const keyed = (hash: string) => `keyed ${hash}`;
const keys = { fingerprint: 'f', toolKey: 't', cluster: null };

function prepare(description: string): PreparedRecord {
  const given = record({
    title: 'A key in the code',
    description,
    severity: 'high',
    source: 'sast',
    ruleId: 'key',
    location: { kind: 'code', path: 'a.ts' },
  });
  return new PreparedRecord(given, keys, new RecordMask(keyed), keyed);
}

t.test('what a report says again is as it was stored', (t) => {
  const before = prepare(`found ${secret}`);
  const stored: readonly [string, string][] = [
    ['by this release', before.hash],
    ['by releases that hashed what was masked', contentHash(before.record)],
  ];
  for (const [name, hash] of stored) {
    t.equal(prepare(`found ${secret}`).isAsStored(hash), true, `${name}: the same`);
    t.equal(prepare(`${secret} found`).isAsStored(hash), false, `${name}: other words`);
  }
  t.equal(before.isAsStored(''), false, 'what a migration has masked is written anew');
  t.equal(before.isAsStored(before.hash.replace('k3:', 'k2:')), false, 'so is what earlier masks have masked');
  t.notMatch(before.record.description, secret, 'the text is masked');
  t.match(before.hash, 'keyed ', 'it is keyed');
  t.end();
});
