// privacy_mode on a node: what it keeps of requests on disk has no secrets and no personal data, and still says what
// was tried.
import t from 'tap';
import { sendRaw } from './raw-client.js';
import { auditLines, listenerKinds, startBackend, startPlane, testMsMax, until } from './harness.js';

t.setTimeout(testMsMax);

const canaries = [
  'canary-Hunter2',
  'sid-canary',
  '4111111111111111',
  'GB82WEST12345698765432',
  'maria.canary',
  'basic-canary',
  'set-canary',
];
const body = 'note=4111111111111111&password=canary-Hunter2&comment=EVIL';
const request =
  `POST /EVIL?q=maria.canary%40example.com&iban=GB82WEST12345698765432&item=%27%20OR%201=1 HTTP/1.1\r\n` +
  `Host: a\r\nCookie: sid=sid-canary\r\nAuthorization: Basic basic-canary\r\n` +
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

for (const isPrivate of [true, false]) {
  t.test(`privacy_mode ${isPrivate ? 'on' : 'off'}`, async (t) => {
    const backend = await startBackend(t, (_request, response) => {
      response.setHeader('set-cookie', 'sid=set-canary');
      response.end('ok');
    });
    const plane = await startPlane(t, listenerKinds[0] ?? 'node', {
      privacy_mode: isPrivate,
      mode: 'DetectionOnly',
      audit_request_body_bytes_max: 1000,
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    });
    await sendRaw(plane.ports.http, request);
    t.ok(await until(async () => (await auditLines(plane)).length > 0));
    const [line] = await auditLines<{
      transaction: { client_ip: string; request: { uri: string; body: string; headers: object } };
    }>(plane);
    const text = JSON.stringify(line);
    t.match(text, '/EVIL');
    t.same(
      canaries.filter((canary) => text.includes(canary)),
      isPrivate ? [] : canaries,
      'off, they are there, or this test could not fail',
    );
    t.match(line?.transaction.request.uri, /item=%27%20OR%201=1/);
    t.match(line?.transaction.request.body, /comment=EVIL/);
    t.equal(line?.transaction.client_ip, '127.0.0.1');
  });
}
