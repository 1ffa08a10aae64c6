// What workers take while an exchange with the store is on its way is not forgotten when the store's answer replaces
// what this node thought. The clock that the exchange asks is where the test takes a place: between the answer and what
// is made of it.
import t from 'tap';
import { startRedis, withoutRedis } from '../../e2e/redis-server.js';
import { until } from '../../e2e/waiting.js';
import { createKeyTable, KeyTable } from '../../shared-state/key-table.js';
import { compileRate, rateColumns, take } from '../../shared-state/rates/rate-counters.js';
import { createExchangeMemory, RateExchange } from '../../shared-state/rates/rate-exchange.js';
import { SharedRates } from './shared-rates.js';

t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

const rate = compileRate('shared', 40, 3600);

for (const others of [0, 1])
  t.test(`10.1: nothing taken is forgotten, with ${others} other nodes`, { skip: withoutRedis }, async (t) => {
    const redis = await startRedis(t);
    const rates = new KeyTable(createKeyTable(64, rateColumns), rateColumns);
    const exchange = new RateExchange(createExchangeMemory(1), 1);
    let isHooked = false;
    let given = 0;
    const takeOne = (): boolean => {
      const isTaken = take(rates, rate, 1, 1, performance.now(), exchange) === 0;
      if (isTaken) given += 1;
      return isTaken;
    };
    const nodeNamed = (nodeId: string, onClock: () => void, own = exchange, table = rates): SharedRates =>
      new SharedRates({
        url: redis.url,
        prefix: 'test',
        nodeId,
        exchange: own,
        rates: table,
        nowMs: () => {
          onClock();
          return performance.now();
        },
        isWanted: () => true,
        log: () => {},
      });
    const node = nodeNamed('first', () => {
      if (isHooked) takeOne();
    });
    const further = Array.from({ length: others }, (_, index) => {
      const table = new KeyTable(createKeyTable(64, rateColumns), rateColumns);
      return nodeNamed(`n${index}`, () => {}, new RateExchange(createExchangeMemory(1), 1), table);
    });
    t.teardown(() => Promise.all([node, ...further].map((one) => one.close())));
    for (const one of [node, ...further]) one.begin();
    t.ok(await until(async () => node.describe()['state'] === 'shared' && exchange.nodes === 1 + others));
    isHooked = true;
    t.ok(await until(async () => !takeOne() && given >= 38 && node.describe()['waiting'] === 0));
    for (let more = 0; more < 50; more += 1) {
      takeOne();
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (others === 0) t.equal(given, 40);
    else t.ok(given >= 38 && given <= 40, `${given} of 40`);
  });
