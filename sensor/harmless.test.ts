// What is wrong with the sensor's own settings or its control plane is no matter of the application.
import path from 'node:path';
import { Script } from 'node:vm';
import t from 'tap';
import { attempts } from './testing/attempts.js';
import { startCollector } from './testing/collector.js';
import { send, startApp } from './testing/started.js';
import { withEvalNoted } from './load.js';
import { routeOf } from './report/report.js';
import { watchFiles } from './sinks/files.js';
import { sensorState } from './state.js';

t.test('a token that no header can carry does not end the application', async (t) => {
  const collector = await startCollector();
  t.teardown(() => collector.close());
  const environment = { GATEHOUSE_SENSOR_TOKEN: 'apt_“x”' };
  const app = await startApp('http', collector.url, { environment });
  t.teardown(() => app.close());
  const [attempt] = attempts(app.inner, app.directory);
  if (attempt === undefined) throw new Error('there is nothing to try');
  for (let turn = 0; turn < 2000 && app.said.length === 0; turn += 1) await new Promise((done) => setTimeout(done, 30));
  t.match(app.said.join('\n'), /gatehouse-sensor: no answer of use: .*header/i, 'it says what is wrong');
  await send(app.port, attempt, 'unsafe', attempt.attack);
  await new Promise((done) => setTimeout(done, 300)); // a batch later
  t.ok(await send(app.port, attempt, 'safe', attempt.attack), 'the application answers');
  t.same(collector.events, []);
});

t.test('keys that stand in a path are no part of a route', async (t) => {
  const route = (path: string): string => routeOf(path, 'attack');
  t.equal(route('/reset/AbCdEfGhIjKlMn3pQrStUv'), '/reset/{}');
  t.equal(route('/u/9c1f2b3a4d5e6f708192a3b4c5d6e7f8/x'), '/u/{}/x');
  t.equal(route('/orders/17?token=secret'), '/orders/{}');
  t.equal(route('/api/getCustomerAccountDetails'), '/api/getCustomerAccountDetails');
  t.equal(route('/reset-password-confirmation-page'), '/reset-password-confirmation-page');
});

t.test('paths are put together as before, whatever they are put together of', async (t) => {
  const { resolve } = path;
  watchFiles();
  t.not(path.resolve, resolve, 'they are looked at');
  sensorState.isOn = true;
  t.teardown(() => (sensorState.isOn = false));
  for (const parts of [
    ['/a', undefined, '/b'],
    ['/a', null, '/b', '..'],
    [7, '/b'],
    ['/a', '../b'],
    [],
  ] as unknown as string[][])
    t.equal(path.resolve(...parts), resolve(...parts), JSON.stringify(parts));
  t.throws(() => path.resolve('/a', 7 as unknown as string), { code: 'ERR_INVALID_ARG_TYPE' });
  t.equal(sensorState.troubles, 0);
});

t.test('a note behind eval leaves every script readable', async (t) => {
  const noted = '(globalThis.__gatehouseEval=';
  for (const call of [
    'eval(a)',
    'eval(/* c */ a)',
    'eval(// )\n a)',
    'x ? eval(y) : eval(z)',
    '(function* () { eval(yield 1) })',
  ])
    t.ok(withEvalNoted(call).includes(noted), call);
  for (const other of [
    ...['eval()', 'eval(/* c */)', 'eval(...a)', 'eval(/* c */ ...a)', 'o.eval(x)', 'o?.eval(x)', '(0, eval)(x)'],
    ...['class A { eval(code) { return code } }', 'class A { static eval(code) /* c */ { return code } }'],
    ...['o = { eval(c, d = 3) // c\n { return { c } } }', 'o = { async *eval(x) {} }', 'function eval(a) /* c */ {}'],
  ]) {
    t.equal(withEvalNoted(other), other);
    t.doesNotThrow(() => new Script(withEvalNoted(`eval(b); ${other}`)), other);
  }
});
