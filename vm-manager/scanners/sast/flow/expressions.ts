// Values of expressions. Calls have a file of their own.
import type { Call, Dict, Expr } from '../syntax/ir.js';
import { allBits } from '../tables/table.js';
import { foldBinary } from './constants.js';
import { guarded } from './guards.js';
import type { Run } from './run.js';
import { checkAssigned, checkEntries } from './sinks.js';
import { asText, constant, cured, empty, isConst, joined, mergedTaints, ofKind, stepped, taintsOf } from './value.js';
import type { Taint, Val } from './value.js';

/** A value that comes from outside by its name. */
function sourced(run: Run, value: Val, kind: string, line: number): Val {
  const [what] = run.table.sourceOf.exact(kind);
  if (what === undefined || value.taints.some((one) => one.what === what)) return value;
  const isRecord = run.table.records?.some((one) => kind === one || kind.endsWith(`.${one}`)) === true;
  return { ...value, taints: mergedTaints(value.taints, [{ what, part: '', line, steps: [], cured: 0, isRecord }]) };
}

function nameOf(run: Run, name: string, line: number): Val {
  const known = run.scope.find(name);
  if (known !== undefined) return known;
  const found = run.classes.get(name);
  return sourced(run, { ...ofKind(name), classOf: found?.of ?? null }, name, line);
}

const measures: ReadonlySet<string> = new Set(['length', 'size', 'byteLength']);

/** Which part of the request it is, where that is known. */
export function named(taints: readonly Taint[], part: string): readonly Taint[] {
  if (!taints.some((one) => one.part === '' && one.steps.length === 0)) return taints;
  return taints.map((one) => (one.part === '' && one.steps.length === 0 ? { ...one, part: part.slice(0, 80) } : one));
}

function partOf(run: Run, base: Val, name: string, line: number): Val {
  const part = base.parts?.get(name);
  const kind = base.kind === '' ? '' : `${base.kind}.${name}`;
  if (part !== undefined) return part;
  if (measures.has(name)) return { ...empty, kind };
  // of a record whose parts are known, another part is not one of them
  const rest = base.parts?.get('*');
  const own = named(base.taints, name);
  const taints = rest === undefined ? own : mergedTaints(own, taintsOf(rest));
  return sourced(run, { ...empty, taints, kind: kind === '' ? `?.${name}` : kind }, kind, line);
}

function indexOf(run: Run, expr: Extract<Expr, { k: 'index' }>): Val {
  const base = run.evaluate(expr.of);
  const key = expr.key === null ? empty : run.evaluate(expr.key);
  if (typeof base.constant === 'string' && typeof key.constant === 'number')
    return constant(base.constant[key.constant] ?? '');
  if (key.constant !== undefined) {
    const found = partOf(run, base, String(key.constant), expr.line);
    return base.parts?.has(String(key.constant)) === true || found.kind.startsWith('?')
      ? found
      : { ...found, kind: base.kind === '' ? '' : `${base.kind}[]` };
  }
  // of a table of constants that is asked by a foreign name, only the constants come out
  return { ...empty, taints: taintsOf(base), kind: base.kind === '' ? '' : `${base.kind}[]` };
}

/** Texts put together. */
export function textOf(values: readonly Val[], line: number): Val {
  let prefix = '';
  let isOpen = true;
  let taints = empty.taints;
  for (const value of values) {
    if (isOpen) prefix += value.constant === undefined ? value.prefix : String(value.constant);
    if (value.constant === undefined) isOpen = false;
    taints = mergedTaints(taints, asText({ ...value, taints: taintsOf(value) }).taints);
  }
  if (isOpen && prefix.length <= 10_000) return constant(prefix);
  return {
    ...empty,
    taints: stepped(taints, line, 'put into a text'),
    prefix: prefix.slice(0, 2000),
    isText: true,
  };
}

const compared: ReadonlySet<string> = new Set(
  '== != === !== < > <= >= in instanceof <=> not_in is is_not <> not in'.split(' '),
);
const counted: ReadonlySet<string> = new Set(['-', '*', '/', '**', '//', '<<', '>>', '>>>', '&', '|', '^', '%', '&^']);

function binary(run: Run, expr: Extract<Expr, { k: 'bin' }>): Val {
  const { op, line } = expr;
  const left = run.evaluate(expr.left);
  if (op === '&&' || op === '||' || op === '??') return either(run, op, left, expr.right);
  const right = run.evaluate(expr.right);
  const joins = run.table.joinsWith ?? '+';
  if (op === joins || (op === '%' && joins === '+' && left.isText)) {
    const folded = op === '%' || joins === '.' ? undefined : foldBinary(op, left.constant, right.constant);
    if (folded !== undefined) return constant(folded);
    return left.isList && right.isList ? joined(left, right) : textOf([left, right], line);
  }
  const folded = foldBinary(op, left.constant, right.constant);
  if (folded !== undefined) return constant(folded);
  if (compared.has(op)) return empty;
  if (op === '|' && (left.kind !== '' || left.parts !== null)) return joined(left, right);
  if (counted.has(op) || op === '+') return cured(joined(left, right), allBits);
  return joined(left, right);
}

function either(run: Run, op: string, left: Val, rightExpr: Expr): Val {
  if (isConst(left)) {
    const isLeft = op === '??' ? left.constant !== null : op === '||' ? Boolean(left.constant) : !left.constant;
    if (isLeft) return left;
    return run.evaluate(rightExpr);
  }
  const right = run.evaluate(rightExpr);
  return op === '&&' ? right : { ...joined(left, right), kind: left.kind === '' ? right.kind : left.kind };
}

function condition(run: Run, expr: Extract<Expr, { k: 'cond' }>): Val {
  const test = run.evaluate(expr.test);
  if (isConst(test)) return run.evaluate(test.constant ? expr.yes : expr.no);
  const saved = new Map(run.scope.vars);
  guarded(run, expr.test, true);
  const yes = run.evaluate(expr.yes);
  run.scope.vars = new Map(saved);
  guarded(run, expr.test, false);
  const no = run.evaluate(expr.no);
  run.scope.vars = saved;
  return joined(yes, no);
}

function listOf(run: Run, expr: Extract<Expr, { k: 'list' }>): Val {
  const parts = new Map<string, Val>();
  let at = 0;
  for (const item of expr.items) {
    const value = run.evaluate(item);
    const isSpread = item.k === 'un' && item.op === '...';
    if (isSpread) parts.set('*', joined(parts.get('*') ?? empty, { ...value, taints: taintsOf(value), parts: null }));
    else parts.set(String(at++), value);
    if (parts.size > 500) break;
  }
  return { ...empty, parts, isList: true };
}

function dictOf(run: Run, expr: Dict): Val {
  const parts = new Map<string, Val>();
  for (const [key, item] of expr.entries) {
    const value = run.evaluate(item);
    const name = key === null ? undefined : run.evaluate(key).constant;
    if (name === undefined) {
      for (const [inner, part] of key === null ? (value.parts ?? []) : []) parts.set(inner, part);
      const rest = value.parts === null || key !== null ? taintsOf(value) : value.taints;
      if (rest.length > 0) parts.set('*', joined(parts.get('*') ?? empty, { ...empty, taints: rest }));
    } else parts.set(String(name), value);
    if (parts.size > 500) break;
  }
  checkEntries(run, expr.type, parts, expr);
  const kind = expr.type === '' ? '' : nameOf(run, expr.type.split('.')[0] ?? '', expr.line).kind;
  return { ...empty, parts, kind: kind === '' ? '' : [kind, ...expr.type.split('.').slice(1)].join('.') };
}

const numeric =
  /^(?:int|integer|long|short|byte|float|double|bool|boolean|number|u?int\d*|float\d*|Integer|Long|Double)$/;

function castOf(run: Run, expr: Extract<Expr, { k: 'cast' }>): Val {
  const value = run.evaluate(expr.of);
  if (numeric.test(expr.type)) return isConst(value) ? value : cured(value, allBits);
  return typed(run, value, expr.type);
}

/** A value that is declared to be of a type. */
export function typed(run: Run, value: Val, type: string): Val {
  if (type === '' || value.kind.startsWith('^')) return value;
  const plain = type.replace(/<[^]*$/, '').replace(/\[\]$/, '');
  const [first = '', ...rest] = plain.split('.');
  const imported = run.scope.find(first)?.kind ?? first;
  const kind = [imported, ...rest].join('.');
  if (value.closure !== null || value.classOf !== null) return value;
  const classOf = run.classes.get(plain)?.of ?? null;
  return isConst(value) && value.kind === '' ? value : { ...value, kind, classOf };
}

function unary(run: Run, op: string, of: Expr): Val {
  const value = op === 'await' && of.k === 'call' ? awaited(run, of) : run.evaluate(of);
  if (op === '!' || op === 'not') return isConst(value) ? constant(!value.constant) : empty;
  if (op === '-' && typeof value.constant === 'number') return constant(-value.constant);
  if (op === '-' || op === '+' || op === '~') return isConst(value) ? value : cured(value, allBits);
  return op === 'typeof' || op === 'delete' || op === 'void' ? empty : value;
}

const kept = /^(?:json|text|formData|form|body|parse\w*|read\w*|toString|arrayBuffer|promisify|all|resolve|get_json)$/;

/** What comes back from elsewhere (a database, a service) is not what was sent there. */
function awaited(run: Run, call: Call): Val {
  const value = run.evaluateCall(call);
  const { fn } = call;
  if (taintsOf(value).length === 0) return value;
  const callee = fn.k === 'name' ? run.scope.find(fn.name) : undefined;
  const isOwn = callee?.closure !== undefined && callee.closure !== null;
  if (isOwn || (fn.k === 'member' && (kept.test(fn.name) || (fn.of.k === 'name' && fn.of.name === 'this'))))
    return value;
  const receiver = fn.k === 'member' ? run.evaluate(fn.of) : empty;
  return { ...value, taints: taintsOf(receiver), parts: null };
}

function setOf(run: Run, expr: Extract<Expr, { k: 'set' }>): Val {
  const { op, line, to } = expr;
  const left = op === '=' ? empty : run.evaluate(to);
  const right = run.evaluate(expr.value);
  const value = op === '=' ? right : compound(run, op.slice(0, -1), left, right, line);
  if (to.k === 'name') run.tests.set(to.name, expr.value);
  run.assign(to, value, line);
  return value;
}

function compound(run: Run, op: string, left: Val, right: Val, line: number): Val {
  const joins = run.table.joinsWith ?? '+';
  const folded = joins === op && joins === '.' ? undefined : foldBinary(op, left.constant, right.constant);
  if (folded !== undefined) return constant(folded);
  if (op === joins) return left.isList ? joined(left, right) : textOf([left, right], line);
  return op === '??' || op === '||' || op === '&&' ? joined(left, right) : cured(joined(left, right), allBits);
}

export function evaluate(run: Run, expr: Expr): Val {
  run.spend();
  switch (expr.k) {
    case 'lit':
      return constant(expr.value);
    case 'name':
      return nameOf(run, expr.name, expr.line);
    case 'member':
      return partOf(run, run.evaluate(expr.of), expr.name, expr.line);
    case 'index':
      return indexOf(run, expr);
    case 'call':
      return run.evaluateCall(expr);
    case 'bin':
      return binary(run, expr);
    case 'un':
      return unary(run, expr.op, expr.of);
    case 'cond':
      return condition(run, expr);
    case 'text':
      return textOf(
        expr.parts.map((part) => run.evaluate(part)),
        expr.line,
      );
    case 'list':
      return listOf(run, expr);
    case 'dict':
      return dictOf(run, expr);
    case 'fn': {
      const closure = { fn: expr.fn, scope: run.scope, self: run.frames.at(-1)?.closure?.self ?? null };
      run.pending.push(closure);
      return { ...empty, closure };
    }
    case 'set':
      return setOf(run, expr);
    case 'cast':
      return castOf(run, expr);
    case 'many':
      return expr.parts.map((part) => run.evaluate(part)).reduce((left, right) => joined(left, right), empty);
  }
}

const pathDepthMax = 5;

/** A value goes to where it is assigned. */
export function assign(run: Run, to: Expr, value: Val, line: number, depth = 0): void {
  if (depth > pathDepthMax) return;
  if (to.k === 'name') {
    const taints = stepped(value.taints, line, `assigned to ${to.name}`);
    return run.scope.assign(to.name, taints === value.taints ? value : { ...value, taints });
  }
  if (to.k === 'member' || to.k === 'index') {
    const name = to.k === 'member' ? to.name : to.key === null ? undefined : run.evaluate(to.key).constant;
    const base = run.evaluate(to.of);
    if (depth === 0 && name !== undefined) checkAssigned(run, base, String(name), value, line);
    const parts = new Map(base.parts ?? []);
    if (name === undefined) parts.set('*', joined(parts.get('*') ?? empty, value));
    else parts.set(String(name), value);
    if (parts.size <= 500) assign(run, to.of, { ...base, parts }, line, depth + 1);
    return;
  }
  if (to.k === 'dict') {
    for (const [key, inner] of to.entries) {
      const name = key === null ? undefined : run.evaluate(key).constant;
      const part = name === undefined ? value : partOf(run, value, String(name), line);
      assign(run, inner, part, line, depth + 1);
    }
    return;
  }
  if (to.k === 'list') {
    to.items.forEach((inner, index) => assign(run, inner, partOf(run, value, String(index), line), line, depth + 1));
    return;
  }
  if (to.k === 'set') return assign(run, to.to, joined(value, run.evaluate(to.value)), line, depth + 1);
  if (to.k === 'un' || to.k === 'cast') assign(run, to.of, value, line, depth + 1);
}
