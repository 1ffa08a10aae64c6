// A shape's answers are those of the checks themselves, whatever was asked before: more shapes than the table holds,
// equal hashes, values that the memo forgot.
import t from 'tap';
import type { PlanIR } from '../../program/plan.js';
import type { Transaction } from '../../transaction/transaction.js';
import { link, operator, program as programOf, rule, target } from '../../testing/program.js';
import { HeadShapes } from './head-shapes.js';
import { createUnscannedRules } from './unscanned-rules.js';

const program = programOf([
  rule(1, 1, [link([target('REQUEST_HEADERS', 'x-test')], operator('!rx ^v[0-9]*[02468]$'))]),
  rule(2, 1, [link([target('REQUEST_METHOD')], operator('streq GET'))]),
  rule(3, 1, [link([target('REQUEST_HEADERS', 'x-other', true)], operator('eq 2'))]),
  rule(4, 2, [link([target('REQUEST_PROTOCOL'), target('REQUEST_HEADERS', 'x-other')], operator('streq v8'))]),
  rule(5, 1, [link([target('REQUEST_URI')], operator('streq /'))]),
]);
const plan = {
  active: [[], [0, 1, 2, 4], [3], [], [], []],
  certain: [],
  constantArguments: [],
  linkAtoms: program.items.map(() => null),
} as unknown as PlanIR;
const rules = createUnscannedRules(program, plan);

function transactionOf(method: string, protocol: string, headers: readonly (readonly [string, string])[]): Transaction {
  return {
    request: { method, uri: '/', protocol, headers: headers.flat() },
    requestHeaders: { names: headers.map(([name]) => name), values: headers.map(([, value]) => value) },
    requestUri: '/',
  } as unknown as Transaction;
}

t.test('what depends on the head and what does not', (t) => {
  t.same([...rules.headerNames].sort(), ['x-other', 'x-test']);
  t.same(
    rules.headChecks[1]?.map((check) => check !== null),
    [true, true, true, false],
  );
  t.same(
    rules.afterHead[1]?.map(({ check }) => check !== null),
    [false, false, false, true],
    'the URI is asked each time',
  );
  t.ok(rules.all[1]?.every(({ check }) => check !== null));
  t.end();
});

t.test('shapes answer as the checks do', (t) => {
  const shapes = new HeadShapes(rules);
  const numbers = new Map<string, number>();
  let next = 0;
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % below;
  };
  let left = 0;
  let again = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const headers = Array.from(
      { length: random(4) },
      () => [['x-test', 'X-Other', 'host'][random(3)] as string, `v${random(round % 2 === 0 ? 6 : 400)}`] as const,
    );
    const transaction = transactionOf(
      ['GET', 'PUT'][random(2)] as string,
      ['HTTP/1.1', 'v8'][random(2)] as string,
      headers,
    );
    const records = headers.map(([, value]) => {
      if (!numbers.has(value) || random(50) === 0) numbers.set(value, (next += 1)); // forgotten and learned again
      return numbers.get(value) as number;
    });
    const ask = (): void => {
      shapes.begin();
      headers.forEach(([name], position) => shapes.add(position, name, records[position] as number));
    };
    ask();
    const shape = shapes.find(transaction);
    const expected = rules.headChecks.map((checks, phase) =>
      rules.afterHead[phase]?.filter((_, index) => checks[index]?.(transaction) ?? true),
    );
    if (
      shape === null ||
      shape.unscanned.some(
        (list, phase) =>
          list.length !== expected[phase]?.length || list.some((one, index) => one !== expected[phase]?.[index]),
      )
    )
      return t.fail(`round ${round}: ${JSON.stringify(headers)}`);
    left += shape.unscanned.flat().length;
    ask();
    if (shapes.find(transaction) === shape) again += 1;
  }
  t.ok(left > 20_000, 'some rules are left to visit');
  t.equal(again, 20_000, 'the same head is the same shape');
  t.end();
});

t.test('a head with too many such headers has none', (t) => {
  const shapes = new HeadShapes(rules);
  const headers = Array.from({ length: 65 }, () => ['x-test', 'v1'] as const);
  shapes.begin();
  headers.forEach(([name], position) => shapes.add(position, name, 1));
  t.equal(shapes.find(transactionOf('GET', 'HTTP/1.1', headers)), null);
  t.end();
});
