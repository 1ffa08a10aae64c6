// Cousins are known by their pieces, whatever stands before or behind.
import t from 'tap';
import type { Labelled } from './corpus.js';
import { unlike } from './likeness.js';

const peer = { clientIp: '192.0.2.1', clientPort: 1, serverIp: '192.0.2.2', serverPort: 80 };
const sample = (value: string): Labelled => ({
  id: value,
  source: 'own',
  head: { method: 'GET', uri: '/', protocol: 'HTTP/1.1', headers: [], ...peer },
  body: null,
  isAttack: true,
  group: `value ${value}`,
  half: 0,
  fold: 0,
});

t.test('what shares half of its pieces with something seen is no stranger', async (t) => {
  const seen = ["'and0=0--w", '<svg/onload=alert(0)>'].map(sample);
  const asked = ["'and0=0--", '<svg/onload=alert(0)', '{{0*0}}', "'or0<0#"].map(sample);
  const strangers = unlike(asked, seen).map(({ id }) => id);
  t.strictSame(strangers, ['{{0*0}}', "'or0<0#"]);
  t.equal(unlike(asked, []).length, asked.length, 'nothing seen: all are strangers');
});
