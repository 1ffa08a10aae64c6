// Connections of clients over workers: exact, bounded, and forgotten with the worker that had them.
import t from 'tap';
import { ClientConnections } from './client-connections.js';
import { ClientKey } from './client-key.js';
import { createKeyTable } from './key-table.js';

function open(entries: number, workers: number) {
  const connections = new ClientConnections(createKeyTable(entries, workers), workers);
  const of = (address: string): ClientKey => {
    const key = new ClientKey(connections.seeds);
    key.read(address);
    return key;
  };
  return { connections, of };
}

t.test('2: property: the counts are those of a map, whatever comes and goes', async (t) => {
  const { connections, of } = open(2000, 3);
  const model = new Map<string, number[]>();
  let state = 5;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let step = 0; step < 20_000; step += 1) {
    const address = `198.51.100.${random(40)}`;
    const worker = random(3);
    const counts = model.get(address) ?? [0, 0, 0];
    model.set(address, counts);
    const sum = counts.reduce((total, count) => total + count, 0);
    if (random(500) === 0) {
      connections.forget(worker);
      for (const all of model.values()) all[worker] = 0;
    } else if (random(2) === 0) {
      const isIn = connections.enter(of(address), worker, 6, step);
      if (isIn !== sum < 6) t.fail(`${address} has ${sum}`);
      if (isIn) counts[worker] = (counts[worker] ?? 0) + 1;
    } else if ((counts[worker] ?? 0) > 0) {
      connections.leave(of(address), worker, step);
      counts[worker] = (counts[worker] ?? 0) - 1;
    }
  }
  for (const [address, counts] of model)
    t.equal(
      connections.count(of(address), 20_000),
      counts.reduce((total, count) => total + count, 0),
      address,
    );
});

t.test('2: a flood of clients takes no more memory, and IPv6 clients are their /64', async (t) => {
  const { connections, of } = open(62, 1);
  for (let client = 0; client < 5000; client += 1)
    t.ok(connections.enter(of(`10.0.${client >> 8}.${client & 255}`), 0, 1, client));
  t.ok(connections.enter(of('2001:db8::1'), 0, 1, 6000));
  t.notOk(connections.enter(of('2001:db8::2'), 0, 1, 6000));
  t.ok(connections.enter(of('2001:db8:0:1::1'), 0, 1, 6000));
});
