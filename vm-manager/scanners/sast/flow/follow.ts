// Follows a file: its statements first, then each function by itself with what its parameters are.
import type { Param, Stmt } from '../syntax/ir.js';
import { callClosure, evaluateCall, selfNames } from './calls.js';
import { assign, evaluate, typed } from './expressions.js';
import { Run, type Flow } from './run.js';
import { calledName } from './sinks.js';
import { execute } from './statements.js';
import type { Prepared } from './prepared.js';
import { empty, ofKind, type Closure, type Val } from './value.js';

const entriesMax = 5000;

export interface Followed {
  readonly flows: readonly Flow[];
  readonly isCut: boolean;
}

const harmless =
  /^(?:int|float|bool|boolean|number|long|short|double|Integer|Long|Boolean|UUID|uuid\.UUID|date\w*|u?int\d*)$/;

function paramValue(run: Run, { fn }: Closure, { to, type, marks, value }: Param, line: number): Val {
  const own = to.k === 'name' ? to.name : to.k === 'un' && to.of.k === 'name' ? to.of.name : '';
  const { table } = run;
  const taint = (what: string): Val => ({
    ...empty,
    taints: [{ what, part: own, line, steps: [], cured: 0, isRecord: /body/i.test(what) }],
  });
  const isNumber = harmless.test(type.replace(/\s.*$/, ''));
  const mark = marks.map(calledName).find((one) => table.marks?.test(one) === true);
  if (mark !== undefined) return isNumber ? empty : taint(`@${mark} parameter`);
  const byType = type === '' ? empty : typed(run, empty, type);
  const known = table.params !== undefined && Object.hasOwn(table.params, own) ? table.params[own] : undefined;
  if (known !== undefined && (type === '' || table.sourceOf.find(`${byType.kind}.*`).length === 0)) {
    const isTypedAsOther = type !== '' && !/req|res|reply|ctx|context|any|event|object|incoming/i.test(type);
    if (!isTypedAsOther) return ofKind(known);
  }
  const routed = fn.marks.map(calledName).some((one) => table.routes?.test(one) === true);
  const isGiven = value !== null && value.k === 'call' && /Depends|Security/.test(calledName(value.fn));
  if (routed && !isNumber && !isGiven && !selfNames.includes(own) && byType.kind !== 'fastapi.Request')
    if (!/Session|Request|Response|Depends|BackgroundTasks|Model\b/.test(type)) return taint('path or query parameter');
  return byType;
}

function followFn(run: Run, closure: Closure): void {
  const { fn } = closure;
  const args = fn.params
    .filter(({ to }) => !(closure.self !== null && to.k === 'name' && selfNames.includes(to.name)))
    .map((param) => paramValue(run, closure, param, fn.line));
  run.entry(() => callClosure(run, closure, args, new Map(), fn.line));
}

export function follow(table: Prepared, body: readonly Stmt[]): Followed {
  const run = new Run(table);
  run.evaluate = (of) => evaluate(run, of);
  run.execute = (all) => execute(run, all);
  run.assign = (to, value, line) => assign(run, to, value, line);
  run.evaluateCall = (call) => evaluateCall(run, call);
  run.call = (closure, args, names, line) => callClosure(run, closure, args, names, line);
  run.typed = (value, type) => typed(run, value, type);
  run.entry(() => execute(run, body));
  const done = new Set<unknown>();
  for (let at = 0; at < run.pending.length && done.size < entriesMax; at++) {
    const closure = run.pending[at];
    if (closure === undefined || done.has(closure.fn)) continue;
    done.add(closure.fn);
    run.html = '';
    followFn(run, closure);
  }
  return { flows: [...run.flows.values()], isCut: run.isCut || done.size >= entriesMax };
}
