// A program that is started is ready when everything that it is waited for at answers, not the first of it.
import { connect } from 'node:net';
import t from 'tap';
import { freePort, start, stopEverything } from './processes.js';

t.teardown(stopEverything);

/** Opens its second port behind the third connection to its first one. */
const lateProgram = `
  const { createServer } = require('node:net');
  const [first, second] = process.argv.slice(1).map(Number);
  let connections = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    connections += 1;
    if (connections === 3) createServer().listen(second, '127.0.0.1');
  });
  server.listen(first, '127.0.0.1');
`;

/** Whether something listens there. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

void t.test('a program with two ports is ready when the second one answers, too', async (t) => {
  const port = await freePort();
  const second = await freePort();
  const program = ['-e', lateProgram, String(port), String(second)];
  const started = await start(process.execPath, program, { port, alsoPorts: [second] });
  t.teardown(started.stop);
  t.equal(await answers(second), true);
});

void t.test('a program that ends before its second port answers is a problem that names its end', async (t) => {
  const port = await freePort();
  const second = await freePort();
  const program = `require('node:net').createServer(() => process.exit(3)).listen(${port}, '127.0.0.1')`;
  const begun = start(process.execPath, ['-e', program], { port, alsoPorts: [second] });
  await t.rejects(begun, /ended with 3/);
});
