// What becomes of the decisions of gates: under the site's mode, in the answer, the records and the counts.
import t from 'tap';
import type { SecurityEvent } from '../contract/index.js';
import { renderPrometheus } from '../metrics/exposition.js';
import { toEventRecord } from '../records/event-record.js';
import { drive, type Driven } from '../road/testing/drive.js';
import type { Decision, DecisionRule } from './decision.js';
import { row, type Gate, type GateRow } from './gate.js';
import { gates, openGates } from './index.js';
import { testGateWorker } from './testing/gate-worker.js';

const rule: DecisionRule = {
  id: 1_006_999,
  message: 'A gate of the test',
  match: 'Matched the test',
  data: 'what it saw',
  severity: '4',
  tags: ['gatehouse/test'],
};
const bound = { of: 'nothing', max: 0, unit: 'entries', beyond: 'nothing' } as const;
const gate = (name: string, decide: Gate['decide'], appliesTo: Gate['appliesTo'] = 'protected'): GateRow =>
  row({ name, appliesTo, bound, decide });
const always = (decision: Decision): GateRow => gate('test', () => decision);
const exposed = ({ metrics }: Driven): string => renderPrometheus(metrics.snapshot(), {});

const deny: Decision = { kind: 'deny', status: 403, shape: 'page', rule };
const throttle: Decision = {
  kind: 'throttle',
  zone: 'login',
  limit: 5,
  windowSeconds: 60,
  remaining: 0,
  retryAfterSeconds: 11.2,
  rule,
};

t.test('the table: every gate has a name of its own and says how much memory it takes', async (t) => {
  t.equal(new Set(gates.map(({ name }) => name)).size, gates.length);
  for (const { name, bound: own } of gates) {
    t.match(name, /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/); // digits as well: ja3-blocklist
    t.ok(own.max > 0 && own.beyond.length > 10, `${name}: ${own.max} ${own.unit}, beyond: ${own.beyond}`);
  }
});

t.test('a denial is answered, recorded under its rule, and counted', async (t) => {
  const driven = drive({ gates: [always(deny)] });
  t.equal(driven.answer?.status, 403);
  t.notOk(driven.isForwarded);
  t.match(driven.events, [
    {
      verdict: 'block',
      interruption: { ruleId: rule.id, action: 'deny', phase: 1, status: 403 },
      messages: [{ ruleId: rule.id, data: 'what it saw', severity: '4', tags: ['gatehouse/test'] }],
      phases: [],
    },
  ]);
  t.match(driven.lines, [{ status: 403, verdict: 'block', rule_ids: [rule.id] }]);
  t.match(exposed(driven), 'gatehouse_gate_decisions_total{gate="test",decision="deny",outcome="enforced"} 1');
  t.match(exposed(driven), 'gatehouse_refused_total{status="403",reason="gate"} 1');
  t.match(exposed(driven), 'gatehouse_requests_total{site="shop",action="blocked"} 1');
});

t.test('a denial may end the connection without an answer', async (t) => {
  const driven = drive({ gates: [always({ ...deny, shape: 'close' })] });
  t.strictSame([driven.answer, driven.isClosed], [null, true]);
  t.match(driven.events, [{ interruption: { action: 'drop' }, status: 403 }]);
});

t.test('a throttled request is told when to come back, and the record has the numbers', async (t) => {
  const driven = drive({ gates: [always(throttle)] });
  const { status, headers = [] } = driven.answer ?? {};
  t.equal(status, 429);
  t.equal(headers[headers.indexOf('Retry-After') + 1], '12');
  t.match(driven.events, [
    { messages: [{ data: 'what it saw zone=login limit=5 window_seconds=60 remaining=0 retry_after_seconds=11.2' }] },
  ]);
  t.match(exposed(driven), 'gatehouse_requests_total{site="shop",action="refused"} 1');
  const quiet = drive({ gates: [always({ ...throttle, rule: null })] });
  t.equal(quiet.answer?.status, 429);
  t.strictSame(quiet.events, [], 'without a rule there is no event: a flood must not fill the records');
  t.match(quiet.lines, [{ status: 429, verdict: 'refused', rule_ids: [] }]);
});

t.test('a challenge is what the gate made', async (t) => {
  const challenge: Decision = { kind: 'challenge', status: 403, headers: ['X-Challenge', '1'], body: 'prove it', rule };
  const driven = drive({ gates: [always(challenge)] });
  t.match(driven.answer, { status: 403, body: 'prove it' });
  t.strictSame(driven.answer?.headers.slice(0, 2), ['X-Challenge', '1']);
  t.ok(driven.answer?.headers.includes('X-Request-Id'));
  t.match(driven.events, [{ verdict: 'block', interruption: { action: 'challenge' } }]);
});

t.test('DetectionOnly lets through what would have been stopped, and records it', async (t) => {
  for (const decision of [deny, throttle]) {
    const driven = drive({ gates: [always(decision), always(decision)], site: { mode: 'DetectionOnly' } });
    t.ok(driven.isForwarded && driven.answer === null, decision.kind);
    t.match(exposed(driven), `{gate="test",decision="${decision.kind}",outcome="recorded"} 2`);
  }
});

t.test('a flag goes on in every mode, and rules still look', async (t) => {
  const driven = drive({ gates: [always({ kind: 'flag', rule })], uri: '/?q=EVIL' });
  t.equal(driven.answer?.status, 403);
  t.match(driven.events, [{ verdict: 'block', interruption: { ruleId: 949110 }, messages: [{ ruleId: rule.id }] }]);
});

t.test('the first gate that is enforced ends the request', async (t) => {
  const asked: string[] = [];
  const listening = (name: string, decision: Decision | null): GateRow =>
    gate(name, () => {
      asked.push(name);
      return decision;
    });
  drive({ gates: [listening('a', null), listening('b', deny), listening('c', null)] });
  t.strictSame(asked, ['a', 'b']);
});

t.test('a gate that fails: as the site says, recorded and counted', async (t) => {
  const broken = gate('broken', () => {
    throw new TypeError('a bug in a gate');
  });
  const closed = drive({ gates: [broken] });
  t.equal(closed.answer?.status, 503);
  t.match(closed.events, [{ verdict: 'engine-error', error: 'a bug in a gate', status: 503 }]);
  t.match(exposed(closed), 'gatehouse_gate_errors_total{gate="broken",outcome="closed"} 1');
  t.strictSame(closed.logged, ['the gate broken failed']);
  const open = drive({ gates: [broken, always(deny)], site: { fail_mode: 'open' } });
  t.match(exposed(open), 'gatehouse_gate_errors_total{gate="broken",outcome="open"} 1');
  t.equal(open.answer?.status, 403, 'the gates behind it are asked');
});

t.test('unprotected sites have the gates whose rows say so, and no others', async (t) => {
  const own = always(deny);
  const all = gate('all', () => ({ ...deny, status: 404 }), 'all');
  const site = { protected: false };
  t.ok(drive({ gates: [own], site }).isForwarded);
  t.equal(drive({ gates: [own, all], site }).answer?.status, 404);
  t.equal(drive({ gates: [own, all] }).answer?.status, 403);
});

t.test('settings are compiled once a generation, memory is made once a worker', async (t) => {
  let made = 0;
  const counting = row<number, { asked: number }>({
    name: 'counting',
    appliesTo: 'all',
    bound,
    createState: () => {
      made += 1;
      return { asked: 0 };
    },
    compile: ({ limits }) => (limits.uriBytesMax > 1000 ? limits.uriBytesMax : null),
    decide: (_request, _site, { compiled, state }) => {
      state.asked += 1;
      return { kind: 'flag', rule: { ...rule, data: `${compiled} ${state.asked}` } };
    },
  });
  const prepare = openGates(testGateWorker().worker, [counting]);
  const under = (uriBytesMax: number): string[] =>
    prepare({ limits: { uriBytesMax } } as never).ofOthers.map(
      (prepared) => prepared.decide({} as never, {} as never)?.rule?.data ?? '',
    );
  t.strictSame([under(2000), under(3000), under(500)], [['2000 1'], ['3000 2'], []]);
  t.equal(made, 1);
});

t.test('10.3: an event has every gate that was asked, in order, with what it decided and its numbers', async (t) => {
  const passing = gate('first', () => null);
  const flagging = gate('second', () => ({ kind: 'flag', rule }));
  const throttling = gate('third', () => throttle);
  const [event] = drive({ gates: [passing, flagging, throttling, always(deny)] }).events;
  t.strictSame(event?.gates, [
    { gate: 'first', decision: 'pass', enforced: false },
    { gate: 'second', decision: 'flag', rule_id: 1_006_999, enforced: false },
    {
      gate: 'third',
      decision: 'throttle',
      status: 429,
      rule_id: 1_006_999,
      zone: 'login',
      limit: 5,
      window_seconds: 60,
      remaining: 0,
      retry_after_seconds: 11.2,
      enforced: true,
    },
  ]);
  const [recorded] = drive({ gates: [throttling, passing], site: { mode: 'DetectionOnly' }, hangsUp: true }).events;
  t.match(recorded?.gates, [
    { gate: 'third', enforced: false },
    { gate: 'first', decision: 'pass' },
  ]);
  t.match(toEventRecord(event as SecurityEvent), { details: { gates: event?.gates } }, 'also as the API has it');
});
