// What holds of values once a test is true, or false: one of a fixed list, a number, a form without room for harm.
import type { Call, Expr, Fn, Stmt } from '../syntax/ir.js';
import { allBits, bitsOf } from '../tables/table.js';
import type { Run } from './run.js';
import { Scope } from './scope.js';
import { cured, empty, isSameOrigin, taintsOf, type Closure, type Taint, type Val } from './value.js';

const places = bitsOf(['path', 'address', 'redirect', 'include']);
const depthMax = 6;

/** Takes harm out of what an expression names, and out of all else that came from there. */
function cure(run: Run, of: Expr, bits: number, depth = 0): void {
  if (depth > depthMax || bits === 0) return;
  if (of.k === 'call') {
    const inner = of.fn.k === 'member' && of.fn.of.k !== 'name' ? of.fn.of : of.args[0];
    if (of.fn.k === 'member' && taintsOf(run.evaluate(of.fn.of)).length > 0)
      return cure(run, of.fn.of, bits, depth + 1);
    return inner === undefined ? undefined : cure(run, inner, bits, depth + 1);
  }
  if (of.k === 'cast' || of.k === 'un') return cure(run, of.of, bits, depth + 1);
  if (of.k === 'set') return cure(run, of.to, bits, depth + 1);
  if (of.k !== 'name' && of.k !== 'member' && of.k !== 'index') return;
  const value = run.evaluate(of);
  const origins = taintsOf(value);
  if (origins.length === 0) return;
  for (const [name, known] of run.scope.vars) {
    const after = curedFrom(known, origins, bits);
    if (after !== known) run.scope.vars.set(name, after);
  }
  if (of.k !== 'name' || run.scope.vars.get(of.name) === undefined) run.assign(of, cured(value, bits), of.line);
}

function curedFrom(value: Val, origins: readonly Taint[], bits: number): Val {
  if (value.parts !== null || !value.taints.some((one) => origins.some((origin) => isSameOrigin(origin, one))))
    return value;
  const taints = value.taints.map((one) =>
    origins.some((origin) => isSameOrigin(origin, one)) ? { ...one, cured: one.cured | bits } : one,
  );
  return { ...value, taints };
}

const isClean = (run: Run, of: Expr | undefined): boolean =>
  of !== undefined && taintsOf(run.evaluate(of)).length === 0;

/** Whether a pattern leaves no room: from the beginning to the end, and nothing that stands for anything. */
export function isTight(pattern: string, isAnchored: boolean): boolean {
  const body = /^([/#~@%])([^]*)\1[a-zA-Z]*$/.exec(pattern)?.[2] ?? pattern;
  if (!isAnchored && !(/^\^|^\(\?:?\^|^\\A/.test(body) && /\$\)?$|\\[zZ]$/.test(body))) return false;
  return !/(?<!\\)\.[*+{]|\[\^|\\S|\\W|\\D/.test(body);
}

const constantOf = (run: Run, of: Expr | undefined): string => {
  const value = of === undefined ? undefined : run.evaluate(of).constant;
  return typeof value === 'string' ? value : '';
};

const memberOfList = /^(?:includes|has|contains|containsKey|contains_key|indexOf|Contains)$/;
const begins = /^(?:startsWith|startswith|HasPrefix|str_starts_with|is_relative_to|isRelativeTo|hasPrefix|strpos)$/;
const matching = /^(?:test|match|matches|fullmatch|MatchString|preg_match|search|exec|MatchReader|find)$/;
const byName = /^(?:(?:is|has|check|ensure|assert)_?)?(?:valid|safe|allowed|allow|trusted|permitted|white_?list)/i;

/** A prefix that leaves no choice of the host. */
const isPrefix = (text: string): boolean => !/^(?:https?:?\/{0,2}|\/)?$/i.test(text);

function byMethod(run: Run, call: Call, name: string, receiver: Expr | null): boolean {
  const [first, second] = call.args;
  if (memberOfList.test(name)) {
    if (receiver !== null && first !== undefined && isClean(run, receiver)) cure(run, first, allBits);
    else if (first !== undefined && second !== undefined && isClean(run, first)) cure(run, second, allBits);
    return true;
  }
  if (begins.test(name)) {
    const [subject, prefix] = receiver !== null && second === undefined ? [receiver, first] : [first, second];
    if (subject === undefined || prefix === undefined) return true;
    const text = run.evaluate(prefix);
    if (taintsOf(text).length > 0 && taintsOf(run.evaluate(subject)).length > 0) return true;
    if (text.constant === undefined || isPrefix(String(text.constant))) cure(run, subject, places);
    return true;
  }
  if (!matching.test(name)) return false;
  const patternFirst = constantOf(run, receiver ?? undefined);
  if (
    first !== undefined &&
    second !== undefined &&
    isTight(constantOf(run, first), name === 'fullmatch' || name === 'matches')
  )
    cure(run, second, allBits);
  else if (
    first !== undefined &&
    patternFirst !== '' &&
    isTight(patternFirst, name === 'fullmatch' || name === 'matches')
  )
    cure(run, first, allBits);
  else if (receiver !== null && first !== undefined && isTight(constantOf(run, first), name === 'matches'))
    cure(run, receiver, allBits);
  return true;
}

function ownTest(fn: Fn, run: Run): void {
  const follow = (body: readonly Stmt[]): void => {
    for (const one of body) {
      if (one.k === 'var' || one.k === 'expr') run.execute([one]);
      else if (one.k === 'if' && isFalseReturn(one.yes)) guarded(run, one.test, false);
      else if (one.k === 'try') follow(one.body);
      else if (one.k === 'return' && one.value !== null) return guarded(run, one.value, true);
    }
  };
  follow(fn.body);
}

const isFalseReturn = (body: readonly Stmt[]): boolean =>
  body.some((one) => one.k === 'throw' || (one.k === 'return' && one.value?.k === 'lit' && !one.value.value));

/** A test of the file's own: what it says of its parameters holds of the arguments. */
function byOwn(run: Run, call: Call, { fn, scope }: Closure): void {
  if (run.frames.length > depthMax) return;
  const inner = new Scope(scope);
  const given = call.args.map((arg) => run.evaluate(arg));
  run.frames.push({ closure: null, returned: null });
  const after = run.within(inner, () => {
    fn.params.forEach(({ to }, index) => {
      if (to.k === 'name') inner.declare(to.name, given[index] ?? empty);
    });
    ownTest(fn, run);
    return fn.params.map(({ to }) => (to.k === 'name' ? inner.vars.get(to.name) : undefined));
  });
  run.frames.pop();
  call.args.forEach((arg, index) => {
    const value = after[index];
    const taints = value === undefined ? [] : taintsOf(value);
    if (taints.length > 0)
      cure(
        run,
        arg,
        taints.reduce((bits, one) => bits & one.cured, allBits),
      );
  });
}

function byCall(run: Run, call: Call): void {
  const { fn } = call;
  const [name, receiver] = fn.k === 'member' ? [fn.name, fn.of] : fn.k === 'name' ? [fn.name, null] : ['', null];
  const callee = run.evaluate(fn);
  const closure = callee.closure ?? methodOf(run, receiver, name);
  if (closure !== null) return byOwn(run, call, closure);
  const kind = callee.kind === '' ? name : callee.kind;
  const [bits] =
    run.table.guardOf.find(kind).length > 0 ? run.table.guardOf.find(kind) : run.table.guardOf.find(`?.${name}`);
  if (bits !== undefined) {
    const subject = call.args.find((arg) => !isClean(run, arg)) ?? receiver;
    return subject === null ? undefined : cure(run, subject, bits);
  }
  if (byMethod(run, call, name, receiver)) return;
  if (byName.test(name)) for (const arg of call.args) cure(run, arg, allBits);
}

function methodOf(run: Run, receiver: Expr | null, name: string): Closure | null {
  if (receiver === null) return null;
  const value = run.evaluate(receiver);
  const fn = value.classOf?.methods.find((one) => one.name === name);
  const scope = run.classes.get(value.classOf?.name ?? '')?.scope;
  return fn === undefined || scope === undefined ? null : { fn, scope, self: value };
}

const equal = new Set(['==', '===', 'is']);
const unequal = new Set(['!=', '!==', '<>', 'is_not']);

function byComparison(run: Run, expr: Extract<Expr, { k: 'bin' }>, isTrue: boolean): void {
  const { op, left, right } = expr;
  if (op === 'in' || op === 'not_in') {
    if ((op === 'in') === isTrue && isClean(run, right)) cure(run, left, allBits);
    return;
  }
  // `indexOf(x) === -1`, `strpos(x, base) !== 0`
  const number = run.evaluate(right).constant;
  if (left.k === 'call' && typeof number === 'number') {
    const isFound = number === 0 && equal.has(op) ? isTrue : number === 0 && unequal.has(op) ? !isTrue : null;
    const isInList =
      number === -1 ? unequal.has(op) === isTrue && op !== '<' : op === '>=' ? isTrue : op === '<' ? !isTrue : false;
    if (isFound === true || isInList || (number > 0 && equal.has(op) && isTrue)) return guarded(run, left, true);
    return;
  }
  if (left.k === 'call' && typeof number === 'boolean' && (equal.has(op) || unequal.has(op)))
    return guarded(run, left, (number === isTrue) === equal.has(op));
  if (!(equal.has(op) ? isTrue : unequal.has(op) && !isTrue)) return;
  if (number === null || number === '') return;
  if (left.k === 'un' && left.op === 'typeof') {
    if (number === 'number' || number === 'boolean') cure(run, left.of, allBits);
    if (number === 'string') cure(run, left.of, bitsOf(['nosql', 'prototype']));
    return;
  }
  if (isClean(run, right)) cure(run, left, allBits);
  else if (isClean(run, left)) cure(run, right, allBits);
}

/** Follows what a test says; the values in the scope of now are changed. */
export function guarded(run: Run, test: Expr, isTrue: boolean, depth = 0): void {
  if (depth > depthMax * 3) return;
  run.spend();
  switch (test.k) {
    case 'un':
      if (test.op === '!' || test.op === 'not') return guarded(run, test.of, !isTrue, depth + 1);
      return guarded(run, test.of, isTrue, depth + 1);
    case 'bin':
      if (test.op === '&&' || test.op === '||') {
        if ((test.op === '&&') !== isTrue) return;
        guarded(run, test.left, isTrue, depth + 1);
        return guarded(run, test.right, isTrue, depth + 1);
      }
      return byComparison(run, test, isTrue);
    case 'call':
      return isTrue ? byCall(run, test) : undefined;
    case 'index':
      if (isTrue && test.key !== null && isClean(run, test.of)) cure(run, test.key, allBits);
      return;
    case 'set':
      return guarded(run, test.value, isTrue, depth + 1);
    case 'many':
      return test.parts.length === 1 && test.parts[0] !== undefined
        ? guarded(run, test.parts[0], isTrue, depth + 1)
        : undefined;
    case 'name': {
      const made = run.tests.get(test.name);
      if (made !== undefined && made.k !== 'name') guarded(run, made, isTrue, depth + 1);
      return;
    }
    default:
  }
}
