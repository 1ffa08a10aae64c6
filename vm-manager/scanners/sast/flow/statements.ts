// Statements: ways through branches, loops, and out.
import type { Stmt } from '../syntax/ir.js';
import { guarded } from './guards.js';
import { calledName, checkReturned } from './sinks.js';
import type { End, Run } from './run.js';
import { joinedVars, Scope } from './scope.js';
import { empty, isConst, joined, taintsOf, type Val } from './value.js';

type Vars = Map<string, Val>;

/** Runs both ways from the state of now; the state after is that of the ways that go on. */
function branches(run: Run, ways: readonly (() => End)[]): End {
  const { scope } = run;
  const before = scope.vars;
  let after: Vars | null = null;
  let best: End = 'return';
  for (const way of ways) {
    scope.vars = new Map(before);
    const end = way();
    if (end === 'next') best = 'next';
    else if (end === 'break' && best === 'return') best = 'break';
    if (end === 'return') continue;
    after = after === null ? scope.vars : joinedVars(after, scope.vars);
  }
  scope.vars = after ?? before;
  return best;
}

function ifStmt(run: Run, stmt: Extract<Stmt, { k: 'if' }>): End {
  const test = run.evaluate(stmt.test);
  if (isConst(test)) return run.execute(test.constant ? stmt.yes : stmt.no);
  return branches(run, [
    () => {
      guarded(run, stmt.test, true);
      return run.execute(stmt.yes);
    },
    () => {
      guarded(run, stmt.test, false);
      return run.execute(stmt.no);
    },
  ]);
}

function loop(run: Run, stmt: Extract<Stmt, { k: 'loop' }>): End {
  run.execute(stmt.first);
  const { each, line } = stmt;
  const over = each === null ? empty : run.evaluate(each.over);
  // constants that a loop changes are constants no more: two rounds, each joined with the state before
  for (let round = 0; round < 2; round++) {
    const before = new Map(run.scope.vars);
    if (each !== null) {
      const inner = over.parts === null ? { ...empty, taints: over.taints } : elementOf(over);
      run.assign(each.to, each.type === '' ? { ...inner, kind: '' } : run.typed(inner, each.type), line);
      if (each.key !== null) run.assign(each.key, over.isList ? empty : { ...empty, taints: over.taints }, line);
    } else if (stmt.test !== null) {
      run.evaluate(stmt.test);
      guarded(run, stmt.test, true);
    }
    const end = run.execute(stmt.body);
    run.scope.vars = end === 'return' ? before : joinedVars(before, run.scope.vars);
  }
  return 'next';
}

function elementOf(over: Val): Val {
  const all = [...(over.parts?.values() ?? [])];
  const [first = empty, ...rest] = all;
  const value = rest.slice(0, 50).reduce((left, right) => joined(left, right), first);
  return { ...value, taints: taintsOf({ ...over }) };
}

function switchStmt(run: Run, stmt: Extract<Stmt, { k: 'switch' }>): End {
  const on = run.evaluate(stmt.on);
  const from = (start: number): End => {
    for (const { body } of stmt.cases.slice(start, stmt.falls ? undefined : start + 1)) {
      const end = run.execute(body);
      if (end === 'break') return 'next';
      if (end === 'return') return 'return';
    }
    return 'next';
  };
  if (isConst(on)) {
    const exact = stmt.cases.findIndex(({ tests }) => tests.some((one) => run.evaluate(one).constant === on.constant));
    const at = exact === -1 ? stmt.cases.findIndex(({ tests }) => tests.length === 0) : exact;
    return at === -1 ? 'next' : from(at);
  }
  const hasDefault = stmt.cases.some(({ tests }) => tests.length === 0);
  const ways = stmt.cases.map(({ tests }, index) => () => {
    const [test] = tests;
    if (test !== undefined && stmt.on.k !== 'lit')
      guarded(run, { k: 'bin', op: '==', left: stmt.on, right: test, line: stmt.line }, true);
    return from(index);
  });
  return branches(run, hasDefault ? ways : [...ways, () => 'next']);
}

function tryStmt(run: Run, stmt: Extract<Stmt, { k: 'try' }>): End {
  const before = new Map(run.scope.vars);
  const end = run.execute(stmt.body);
  const after = run.scope.vars;
  let best = end;
  let state: Vars | null = end === 'return' ? null : after;
  for (const handler of stmt.handlers) {
    run.scope.vars = joinedVars(before, after);
    const handled = run.execute(handler);
    if (handled === 'return') continue;
    if (best === 'return') best = handled;
    state = state === null ? run.scope.vars : joinedVars(state, run.scope.vars);
  }
  run.scope.vars = state ?? after;
  const last = run.execute(stmt.last);
  return last === 'next' ? best : last;
}

function one(run: Run, stmt: Stmt): End {
  run.spend();
  switch (stmt.k) {
    case 'expr': {
      run.evaluate(stmt.of);
      const { of } = stmt;
      const isEnd = of.k === 'call' && of.fn.k !== 'lit' && run.table.ends?.test(calledName(of.fn)) === true;
      return isEnd ? 'return' : 'next';
    }
    case 'var': {
      const value = stmt.value === null ? empty : run.evaluate(stmt.value);
      if (stmt.to.k === 'name' && stmt.value !== null) {
        run.tests.set(stmt.to.name, stmt.value);
        run.scope.declare(stmt.to.name, value);
      }
      if (stmt.to.k === 'list' && stmt.value !== null)
        for (const inner of stmt.to.items.slice(1)) if (inner.k === 'name') run.tests.set(inner.name, stmt.value);
      run.assign(stmt.to, stmt.type === '' ? value : run.typed(value, stmt.type), stmt.line);
      return 'next';
    }
    case 'if':
      return ifStmt(run, stmt);
    case 'loop':
      return loop(run, stmt);
    case 'switch':
      return switchStmt(run, stmt);
    case 'return':
    case 'throw': {
      const value = stmt.value === null ? empty : run.evaluate(stmt.value);
      const frame = run.frames.at(-1);
      if (stmt.k === 'return' && frame?.closure) checkReturned(run, frame.closure, value, stmt.line);
      if (stmt.k === 'return' && frame !== undefined)
        frame.returned = frame.returned === null ? value : joined(frame.returned, value);
      return 'return';
    }
    case 'break':
      return 'break';
    case 'try':
      return tryStmt(run, stmt);
    case 'block':
      return run.execute(stmt.body);
    case 'html':
      run.html = (run.html + stmt.text).slice(-20_000);
      return 'next';
    default:
      return declare(run, stmt);
  }
}

function declare(run: Run, stmt: Stmt): End {
  if (stmt.k === 'import') for (const [name, kind] of stmt.names) run.scope.declare(name, { ...empty, kind });
  if (stmt.k === 'fn') {
    const known = run.scope.vars.get(stmt.fn.name);
    if (known?.closure?.fn !== stmt.fn) hoist(run, [stmt]);
  }
  if (stmt.k === 'class' && run.classes.get(stmt.of.name)?.of !== stmt.of) hoist(run, [stmt]);
  return 'next';
}

/** Functions and classes are known before the first statement of their block. */
export function hoist(run: Run, body: readonly Stmt[]): void {
  for (const stmt of body) {
    if (stmt.k === 'fn') {
      const closure = { fn: stmt.fn, scope: run.scope, self: null };
      if (stmt.fn.name !== '') run.scope.declare(stmt.fn.name, { ...empty, closure });
      run.pending.push(closure);
    }
    if (stmt.k !== 'class') continue;
    const { of } = stmt;
    run.classes.set(of.name, { of, scope: run.scope });
    const scope = new Scope(run.scope);
    const self: Val = { ...empty, kind: of.name, classOf: of };
    run.within(scope, () => run.execute(of.fields));
    const parts = new Map(scope.vars);
    for (const fn of of.methods) run.pending.push({ fn, scope: run.scope, self: { ...self, parts } });
  }
}

export function execute(run: Run, body: readonly Stmt[]): End {
  hoist(
    run,
    body.filter(({ k }) => k === 'fn' || k === 'class'),
  );
  for (const stmt of body) {
    const end = one(run, stmt);
    if (end !== 'next') return end;
  }
  return 'next';
}
