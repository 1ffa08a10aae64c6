// Which requests become a trace, under which identifiers, and how their stages are timed.
import t from 'tap';
import { readTraceParent, RequestTrace, traceOf } from './request-trace.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const requestOf = (otelTracesPercent: number, ...headers: string[]) => ({
  startedMs: 100,
  head: { headers },
  generation: { config: { otelTracesPercent } },
});

t.test('O12.1: the share of requests that become a trace is the one of the settings', async (t) => {
  const shareOf = (percent: number): number => {
    let chosen = 0;
    for (let at = 0; at < 10_000; at += 1)
      if (traceOf(requestOf(percent), false, () => at / 10_000) !== null) chosen += 1;
    return chosen / 100;
  };
  for (const percent of [0, 0.5, 1, 25, 100]) t.equal(shareOf(percent), percent, `${percent} %`);
  t.equal(
    traceOf(requestOf(0), true, () => 0),
    null,
    'off is off',
  );
});

t.test('O12.1: identifiers of a proxy in front are gone on with, those of a client are not', async (t) => {
  const headers = ['TraceParent', `00-${traceId}-${parentId}-01`];
  const behind = traceOf(requestOf(100, ...headers), true);
  t.match(behind?.finish(1), { trace_id: traceId, parent_id: parentId });
  t.not(behind?.spanId, parentId);
  t.equal(behind?.header, `00-${traceId}-${behind?.spanId}-01`);
  t.equal(behind?.isContinued, true);
  const strange = traceOf(requestOf(100, ...headers), false);
  t.not(strange?.traceId, traceId);
  t.notOk(Object.hasOwn(strange?.finish(1) ?? {}, 'parent_id'));
  t.match(strange?.header, /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
});

t.test('O12.1: traceparent by the letters of its standard', async (t) => {
  t.same(readTraceParent(` 00-${traceId}-${parentId}-00 `), { traceId, parentId });
  t.same(readTraceParent(`cc-${traceId}-${parentId}-01-what-is-new`), { traceId, parentId }, 'a version to come');
  for (const text of [
    '',
    `00-${traceId}-${parentId}`,
    `00-${traceId}-${parentId}-01-more`,
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`,
    'x'.repeat(100_000),
  ])
    t.equal(readTraceParent(text), null, text.slice(0, 80));
});

t.test('O12.1: a stage lasts until the next; there is a bound', async (t) => {
  const trace = new RequestTrace(100, null);
  trace.enter('admit', 100.5);
  trace.enter('inspect_head', 101);
  trace.enter('inspect_head', 101.2);
  trace.enter('forward', 103);
  t.same(trace.finish(10_000).stages, [
    { name: 'admit', at_us: 500, us: 500 },
    { name: 'inspect_head', at_us: 1000, us: 2000 },
    { name: 'forward', at_us: 3000, us: 7000 },
  ]);
  const long = new RequestTrace(0, null);
  for (let at = 0; at < 1000; at += 1) long.enter(at % 2 === 0 ? 'read_body' : 'inspect_body', at);
  t.equal(long.finish(1_000_000).stages.length, 32);
});
