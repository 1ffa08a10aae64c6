// What a probe says of a certificate: read, none, or not readable are three different answers.
import t from 'tap';
import { readCertificate } from './probe.js';

const now = new Date('2026-03-01T00:00:00Z');
const read = (shown: object) =>
  readCertificate(
    { getPeerCertificate: () => shown as never, getProtocol: () => 'TLSv1.3', destroy: () => undefined as never },
    now,
  );

t.test('certificates: read, none, not readable', async (t) => {
  const subject = { CN: 'shop.example' };
  const whole = { subject, issuer: { O: 'Authority' }, subjectaltname: 'DNS:shop.example', valid_to: '2026-03-11' };
  t.match(read(whole), {
    tls: { subject: 'shop.example', issuer: 'Authority', names: ['shop.example'], days_left: 10 },
    tls_unread: null,
  });
  t.strictSame(read({}), { tls: null, tls_unread: null }, 'none was shown');
  t.match(read({ ...whole, valid_to: 'never' }), { tls: null, tls_unread: 'Its end is no moment: never' });
});
