import { connect, type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function others(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  for (const [method, url, allow] of [
    ['OPTIONS', '/api/settings', 'GET, HEAD, PATCH, PUT'],
    ['DELETE', '/api/login', 'POST'],
    ['POST', '/api/users/x', 'DELETE, GET, HEAD, PATCH'],
    ['PROPFIND', '/api/health', 'GET, HEAD'],
  ] as const) {
    t.match(
      await at.call(method, url),
      { status: 405, headers: { allow }, body: { code: 'method_not_allowed', status: 405 } },
      `${method} ${url}`,
    );
  }
  t.match(await at.call('GET', '/api/users/%ff'), { status: 400, body: { code: 'malformed_request' } });
  t.match(await at.call('GET', `/api/users/${'x'.repeat(300)}`), { status: 404, body: { code: 'not_found' } });
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = at.app.server.address() as AddressInfo;
  for (const text of [
    'nonsense\r\n\r\n',
    `GET /api/health HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    'GET /api/health HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      let got = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket
        .setEncoding('utf8')
        .on('data', (piece: string) => (got += piece))
        .once('close', () => resolve(got))
        .once('error', reject);
    });
    t.match(
      answer,
      /^HTTP\/1\.1 400 [^]*content-type: application\/problem\+json[^]*"code":"malformed_request"/i,
      text.slice(0, 30),
    );
  }
  await at.close();
}

t.test('methods, paths and bytes that are no request', (t) => onBothDatabases(t, 'no request', others));
