// Attack mode as clients meet it: a cap of each, while the node says so, or always.
import t from 'tap';
import { drive } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker } from '../testing/gate-worker.js';

function client(settings: object, site?: object) {
  const { worker, bans } = testGateWorker();
  const ask = (clientIp = '192.0.2.1') =>
    drive({ gates, worker, settings, clientIp, ...(site === undefined ? {} : { site }) });
  const statuses = (...clients: string[]): number[] => clients.map((one) => ask(one).answer?.status ?? 200);
  return { worker, bans, ask, statuses };
}

const burst = { attack_burst_events: 2, attack_burst_window: '10s' };
const four = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.9'];

t.test('1: auto: nothing while there is no attack, a cap of each client while there is one', async (t) => {
  const { worker, ask, statuses } = client({ attack_mode: 'auto', ...burst });
  t.strictSame(statuses(...four), [200, 200, 200, 200]);
  worker.tables.attack.raise(true);
  t.strictSame(statuses(...four), [200, 200, 429, 200]);
  t.match(ask().events, [
    {
      interruption: { ruleId: 1_006_103, action: 'throttle' },
      messages: [{ data: /zone=attack_burst limit=2 window_seconds=10/ }],
    },
  ]);
  worker.tables.attack.raise(false);
  t.strictSame(statuses(...four), [200, 200, 200, 200]);
});

t.test('1: on: always; off: never, whatever the node says; unprotected sites: never', async (t) => {
  t.strictSame(client({ attack_mode: 'on', ...burst }).statuses(...four), [200, 200, 429, 200]);
  const off = client(burst);
  off.worker.tables.attack.raise(true);
  t.strictSame(off.statuses(...four), [200, 200, 200, 200]);
  t.strictSame(client({ attack_mode: 'on', ...burst }, { protected: false }).statuses(...four), [200, 200, 200, 200]);
  t.strictSame(
    client({ attack_mode: 'on', ...burst }, { mode: 'DetectionOnly' }).statuses(...four),
    [200, 200, 200, 200],
  );
});

t.test('1: whoever goes on although it is capped is banned as by any other limit', async (t) => {
  const { statuses, bans } = client({
    attack_mode: 'on',
    ...burst,
    flood_autoban_enabled: true,
    flood_autoban_threshold: 2,
  });
  t.strictSame(statuses(...Array<string>(5).fill('192.0.2.1')), [200, 200, 429, 403, 403]);
  t.match(bans, [{ network: '192.0.2.1', zone: 'attack_burst' }]);
});

t.test('1: what workers count: added up, also over a worker that was replaced', async (t) => {
  const { attack } = client({}).worker.tables;
  attack.tell(0, 100);
  attack.tell(3, 5);
  t.equal(attack.take(), 105);
  attack.tell(0, 110);
  t.equal(attack.take(), 10);
  attack.tell(0, 7);
  t.equal(attack.take(), 7, 'a new worker begins at 0');
  attack.tell(3, 2 ** 31 + 5);
  attack.tell(0, 7);
  t.ok(attack.take() >= 0);
  t.equal(attack.take(), 0);
});
