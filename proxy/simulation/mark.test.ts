// Who is believed to be a client of a simulation: only what the control plane signed, for this request, for so long.
import t from 'tap';
import type { RequestHead } from '#engine';
import {
  isSimulatedAddress,
  markOf,
  simulatedAddress,
  simulatedClientsMax,
  SimulatedClients,
  simulationKeyOf,
} from './mark.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const key = simulationKeyOf('a token between the planes');
const asked = { method: 'GET', uri: '/a?b=1', host: 'shop.example' };
const headOf = (more: readonly string[], over: Partial<RequestHead> = {}): RequestHead =>
  ({
    method: 'GET',
    uri: asked.uri,
    clientIp: '192.0.2.9',
    headers: ['Host', asked.host, ...more],
    ...over,
  }) as RequestHead;
const clients = new SimulatedClients(key);
const mark = markOf(key, '198.18.3.4', nowMs + 30_000, asked);

t.test('12.S1: a signed request is of its simulated client, and neither rules nor upstreams see the field', (t) => {
  const read = clients.read(headOf(['X-Gatehouse-Simulation', mark, 'Accept', '*/*']), nowMs);
  t.equal(read?.clientIp, '198.18.3.4');
  t.same(read?.headers, ['Host', 'shop.example', 'Accept', '*/*']);
  t.equal(
    clients.read(headOf(['x-gatehouse-simulation', mark]), nowMs + 30_000)?.clientIp,
    '198.18.3.4',
    'until its end',
  );
  t.equal(clients.read(headOf(['Accept', '*/*']), nowMs), null, 'no field');
  t.end();
});

t.test('12.S1: nobody else is believed', (t) => {
  const foreign = markOf(simulationKeyOf('another token'), '198.18.3.4', nowMs + 30_000, asked);
  const real = markOf(key, '192.0.2.1', nowMs + 30_000, asked);
  const long = markOf(key, '198.18.3.4', nowMs + 3_600_000, asked);
  const [address = '', until = '', signature = ''] = mark.split(' ');
  const cases: readonly (readonly [string, RequestHead, number])[] = [
    ['the key of another installation', headOf(['X-Gatehouse-Simulation', foreign]), nowMs],
    ['an address that somebody can have', headOf(['X-Gatehouse-Simulation', real]), nowMs],
    ['a mark for an hour', headOf(['X-Gatehouse-Simulation', long]), nowMs],
    ['too late', headOf(['X-Gatehouse-Simulation', mark]), nowMs + 30_001],
    ['another address', headOf(['X-Gatehouse-Simulation', `198.18.3.5 ${until} ${signature}`]), nowMs],
    ['another end', headOf(['X-Gatehouse-Simulation', `${address} ${Number(until) + 1} ${signature}`]), nowMs],
    ['another path', headOf(['X-Gatehouse-Simulation', mark], { uri: '/a?b=2' }), nowMs],
    ['another method', headOf(['X-Gatehouse-Simulation', mark], { method: 'POST' }), nowMs],
    [
      'another host',
      headOf(['X-Gatehouse-Simulation', mark], { headers: ['Host', 'x', 'X-Gatehouse-Simulation', mark] }),
      nowMs,
    ],
    ['twice', headOf(['X-Gatehouse-Simulation', mark, 'X-Gatehouse-Simulation', mark]), nowMs],
    ['no signature', headOf(['X-Gatehouse-Simulation', `${address} ${until} `]), nowMs],
    ['rubbish', headOf(['X-Gatehouse-Simulation', 'rubbish']), nowMs],
    ['nothing', headOf(['X-Gatehouse-Simulation', '']), nowMs],
  ];
  for (const [name, head, atMs] of cases) t.equal(clients.read(head, atMs), null, name);
  t.end();
});

t.test('12.S1: simulated clients have addresses of their own, all of them in 198.18.0.0/15', (t) => {
  const some = [0, 1, 255, 256, 65_535, 65_536, simulatedClientsMax - 1];
  t.same(some.map(simulatedAddress), [
    '198.18.0.0',
    '198.18.0.1',
    '198.18.0.255',
    '198.18.1.0',
    '198.18.255.255',
    '198.19.0.0',
    '198.19.255.255',
  ]);
  t.ok(some.map(simulatedAddress).every(isSimulatedAddress));
  t.equal(simulatedAddress(simulatedClientsMax), '198.18.0.0');
  for (const other of ['198.17.0.1', '198.20.0.1', '198.18.0.256', '198.18.0', '1198.18.0.1', '198.18.0.1 ', '::1'])
    t.notOk(isSimulatedAddress(other), other);
  t.end();
});
