import fc from 'fast-check';
import t from 'tap';
import { listedClients, needsOneRequestEach } from './listed-clients.js';

t.test('clients are read one a line, as the control plane reads a list', async (t) => {
  for (const [text, clients] of [
    ['', []],
    ['  \n\n', []],
    ['203.0.113.7', ['203.0.113.7']],
    ['203.0.113.7 # scanner\r\n2001:db8::/32; a network', ['203.0.113.7', '2001:db8::/32']],
    ['203.0.113.7, 203.0.113.8', ['203.0.113.7']],
    ['203.0.113.7\n203.0.113.7', ['203.0.113.7']],
    ['jwt:0123456789abcdef', ['jwt:0123456789abcdef']],
  ] as const)
    t.same(listedClients(text), clients, JSON.stringify(text));
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6())), (clients) => {
      return JSON.stringify(listedClients(clients.join('\n'))) === JSON.stringify(clients);
    }),
    { seed: 7 },
  );
});

t.test('only a list of addresses that are blocked is one request', async (t) => {
  for (const [action, clients, expected] of [
    ['deny', ['203.0.113.7', '2001:db8::1'], false],
    ['deny', ['203.0.113.7', 'jwt:0123456789abcdef'], true],
    ['deny', ['203.0.113.7', 'country:DE'], true],
    ['deny', ['asn:AS64500'], true],
    ['challenge', ['203.0.113.7'], true],
    ['throttle', ['203.0.113.7'], true],
  ] as const)
    t.equal(needsOneRequestEach(action, clients), expected, `${action} ${clients.join(' ')}`);
});
