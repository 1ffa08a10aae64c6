// `gatehouse data-plane --keep-alive`: a node without a service manager whose data plane is killed again and again.
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { startUpstream } from '#api/testing/data-plane';
import { onOneDatabase } from '#api/testing/databases';
import { freePort } from '#api/testing/free-port';
import { childrenOf, isAlive, startUp, stop } from '#api/testing/processes/up';
import { enrol, startFleetPlane } from '#api/testing/servers/fleet';
import { until } from '#api/testing/waiting';

/** The status of one request on a new connection; the system's word where there is none. */
function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
    socket.on('close', () => resolve(text.slice(9, 12) || 'closed without an answer'));
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: t\r\nAccept: */*\r\nConnection: close\r\n\r\n');
  });
}

t.test('it is started again, and nobody is refused', { skip: process.platform !== 'linux' }, (t) =>
  onOneDatabase(t, 'a data plane that is kept alive', async (t, database) => {
    const plane = await startFleetPlane(t, database, await startUpstream(t));
    const data = await enrol(t, plane, 'kept');
    const [port, admin] = [await freePort(), await freePort()];
    const variables = {
      GATEHOUSE_DATA: data,
      WAF_BIND: '127.0.0.1',
      WAF_PORT: String(port),
      GATEHOUSE_ADMIN_PORT: String(admin),
      DATA_WORKERS: '2',
      TLS_EDGE: 'off',
    };
    const up = startUp(t, variables, ['data-plane', '--keep-alive']);
    await up.until(/the data plane serves/);
    await until('the node is connected', () => plane.isConnected('kept'));
    t.match(await plane.apply(), { status: 200 });
    t.equal(await ask(port), '200');
    const dataPlane = (): number => childrenOf(up.process.pid ?? 0)[0]?.pid ?? 0;
    for (const round of [1, 2]) {
      const pid = dataPlane();
      process.kill(pid, 'SIGKILL');
      await until('it is gone', () => !isAlive(pid));
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(port)));
      t.same(new Set(answers), new Set(['200']), `round ${round}: who came meanwhile waited`);
    }
    const other = startUp(t, variables, ['data-plane', '--keep-alive']);
    await other.until(new RegExp(`port ${port} .*is taken`));
    const pid = dataPlane();
    t.equal(await stop(up), 0);
    t.notOk(isAlive(pid), 'it ends with who watches it');
    t.equal(await ask(port), 'ECONNREFUSED');
    t.match(await readFile(join(data, 'log', 'data-plane.log'), 'utf8'), /data plane is up/, 'its log is kept');
  }),
);
