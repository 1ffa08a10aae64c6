// What a visitor gets when rules withhold the application's answer, on every listener (U7).
import t from 'tap';
import { listenerKinds, startBackend, startPlane, testMsMax } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);
for (const kind of listenerKinds) {
  t.test(`U7: ${kind}: a withheld answer has its own wording, a blocked request keeps its own`, async (t) => {
    const backend = await startBackend(t, (_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<p>a LEAK of something</p>');
    });
    const plane = await startPlane(
      t,
      kind,
      { sites: [{ name: 'a', prefix: '/', upstream: backend.url, protected: true }] },
      { plan: { seesResponses: true, responseNeedle: 'LEAK' } },
    );
    const get = async (path: string, accept: string): Promise<string> => {
      const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`;
      return (await sendRaw(plane.ports.http, head)).text;
    };
    for (const [accept, type] of [
      ['text/html', 'text/html'],
      ['application/json', 'application/problem+json'],
      ['text/plain', 'text/plain'],
    ] as const) {
      const withheld = await get('/', accept);
      t.equal(statusOf(withheld), 403, accept);
      t.ok(withheld.toLowerCase().includes(`content-type: ${type}`), `${accept}: as asked for`);
      t.match(withheld, /withheld/, `${accept}: says what happened`);
      t.notMatch(withheld, /attack|LEAK/, `${accept}: blames nobody and shows nothing`);
      const blocked = await get('/?q=EVIL', accept);
      t.equal(statusOf(blocked), 403);
      t.match(blocked, /looks like an attack/, `${accept}: the request that was blocked`);
    }
  });
}
