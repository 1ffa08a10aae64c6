// Calls: what they do harm to, what they take out, what comes back.
import type { Call, Expr } from '../syntax/ir.js';
import { allBits, bitsOf } from '../tables/table.js';
import { moduleName } from '../syntax/names.js';
import { collected } from './collections.js';
import { foldMethod } from './constants.js';
import { named, textOf } from './expressions.js';
import { inlineDepthMax, type Run } from './run.js';
import { Scope } from './scope.js';
import { checkCall, checkSinks, lineOf, type Given } from './sinks.js';
import { asText, constant, cured, empty, isConst, joined, mergedTaints, ofKind, stepped, taintsOf } from './value.js';
import type { Closure, Taint, Val } from './value.js';

interface Callee {
  readonly kind: string;
  /** Last part of the kind. */
  readonly name: string;
  readonly receiver: Val | null;
  readonly closure: Closure | null;
}

const lastOf = (kind: string): string => kind.slice(kind.lastIndexOf('.') + 1);

function closureOf(run: Run, receiver: Val, name: string): Closure | null {
  const own = receiver.parts?.get(name)?.closure;
  if (own !== undefined && own !== null) return own;
  let at = receiver.classOf;
  for (let depth = 0; at !== null && depth < 5; depth++) {
    const method = at.methods.find((one) => one.name === name);
    const scope = run.classes.get(at.name)?.scope;
    if (method !== undefined && scope !== undefined) return { fn: method, scope, self: receiver };
    at = run.classes.get(at.bases[0] ?? '')?.of ?? null;
  }
  return null;
}

function calleeOf(run: Run, call: Call): Callee {
  const { fn } = call;
  if (fn.k === 'member') {
    const receiver = run.evaluate(fn.of);
    const kind = receiver.kind === '' ? `?.${fn.name}` : `${receiver.kind}.${fn.name}`;
    const known = receiver.parts?.get(fn.name);
    const closure = closureOf(run, receiver, fn.name);
    // a member that is itself foreign: `request.getParameter`
    const whole = known ?? run.evaluate(fn);
    return {
      kind: known !== undefined && known.kind !== '' ? known.kind : kind,
      name: fn.name,
      receiver: { ...receiver, taints: mergedTaints(receiver.taints, whole.taints) },
      closure,
    };
  }
  const value = run.evaluate(fn);
  const kind = value.kind === '' && fn.k === 'name' ? fn.name : value.kind;
  return {
    kind: call.isNew ? `new ${lastOf(kind)}` : kind,
    name: lastOf(kind),
    receiver: fn.k === 'name' && value.closure === null && value.taints.length === 0 ? null : value,
    closure: value.closure,
  };
}

function givenOf(run: Run, call: Call): Given {
  const args: Val[] = [];
  for (const arg of call.args) {
    const value = run.evaluate(arg);
    if (arg.k === 'un' && arg.op === '...' && value.parts !== null && value.isList) args.push(...value.parts.values());
    else args.push(value);
  }
  return { args, names: new Map([...call.names].map(([name, of]) => [name, run.evaluate(of)])) };
}

/** Functions that are given away are called with what belongs to the receiver. */
function callbacks(run: Run, callee: Callee, { args }: Given, line: number): Val {
  let made = empty;
  const receiver = callee.receiver ?? empty;
  for (const arg of args) {
    if (arg.closure === null) continue;
    const others = args.filter((one) => one.closure === null).flatMap((one) => taintsOf(one));
    const taints = mergedTaints(taintsOf(receiver), callee.name === 'exec' || callee.receiver === null ? [] : others);
    if (taints.length === 0) continue;
    const element: Val = { ...empty, taints };
    const isReduce = callee.name === 'reduce';
    made = joined(made, run.call(arg.closure, isReduce ? [element, element] : [element], new Map(), line));
  }
  return made;
}

function constructed(run: Run, callee: Callee, kind: string, given: Given, line: number): Val | null {
  const found = run.classes.get(lastOf(kind.replace(/^new /, '')));
  if (found === undefined) return null;
  const own = run.within(found.scope, () => {
    const fields = new Scope(found.scope);
    const parts = new Map<string, Val>();
    run.within(fields, () => run.execute(found.of.fields));
    for (const [name, value] of fields.vars) parts.set(name, value);
    return parts;
  });
  const self: Val = { ...ofKind(found.of.name), classOf: found.of, parts: own };
  const maker = found.of.methods.find(({ name }) => makers.has(name) || name === found.of.name);
  if (maker === undefined) return self;
  const closure = { fn: maker, scope: found.scope, self };
  return selfAfter(run, closure, given, line) ?? { ...self, taints: taintsOf(callee.receiver ?? empty) };
}
const makers: ReadonlySet<string> = new Set(['constructor', '__init__', '__construct']);

function selfAfter(run: Run, closure: Closure, { args, names }: Given, line: number): Val | null {
  run.call(closure, args, names, line);
  return run.lastSelf;
}

/** A member of an object is called that changes it: the object is written back. */
function written(run: Run, call: Call, after: Val | null): void {
  if (after === null || call.fn.k !== 'member') return;
  const { of } = call.fn;
  if (of.k === 'name' || of.k === 'member') run.assign(of, after, call.line);
}

const propagated = (callee: Callee, given: Given): readonly Taint[] => {
  let taints = callee.receiver === null ? [] : taintsOf(callee.receiver);
  for (const one of given.args) taints = mergedTaints(taints, taintsOf(one));
  for (const one of given.names.values()) taints = mergedTaints(taints, taintsOf(one));
  return taints;
};

/** Parts that a call takes out by name: `request.getParameter("id")`. */
function withPart(taints: readonly Taint[], callee: Callee, { args }: Given): readonly Taint[] {
  const [first] = args;
  return callee.receiver !== null && typeof first?.constant === 'string' ? named(taints, first.constant) : taints;
}

const sanitizing = /^(?:sanitiz|sanitis|escape|purif|clean|strip)|^encode.*(?:html|xml|uri|url)/i;
const sanitized: readonly (readonly [RegExp, number])[] = [
  [/html|xss|xml/i, 1 << 4],
  [/shell|cmd|command/i, 1 << 2],
  [/sql|mysql|pg|db/i, 1],
  [/path|file/i, 1 << 5],
  [/url|uri/i, (1 << 4) | (1 << 6) | (1 << 7)],
  [/./, allBits],
];

function byName(name: string): number {
  if (!sanitizing.test(name)) return 0;
  return sanitized.find(([form]) => form.test(name))?.[1] ?? 0;
}

const wrapsParts = /param|header|cookie|query/i;

function unknownCall(run: Run, call: Call, callee: Callee, given: Given, line: number): Val {
  const { name, kind } = callee;
  const [module] = given.args;
  if (kind === 'require' && typeof module?.constant === 'string') return ofKind(moduleName(module.constant));
  if (name === 'promisify' && module !== undefined) return module;
  const back = callbacks(run, callee, given, line);
  const [typed] = run.table.typeOf.find(kind);
  const ofType = typed ?? (call.isNew ? kind.slice(4) : kind === '' ? '' : `${kind}()`);
  const [bits] = run.table.cureOf.find(kind);
  const changed = byReference(run, call, kind, given) ?? replaced(name, given, callee.receiver);
  if (changed !== null) return changed;
  const all = withPart(propagated(callee, given), callee, given);
  if (bits !== undefined) return cured({ ...empty, taints: stepped(all, line, `${name}()`), kind: typed ?? '' }, bits);
  if (run.table.drops.test(name) && run.table.sourceOf.find(kind).length === 0)
    return { ...empty, kind: ofType, taints: back.taints };
  const settings = settingsOf(given);
  const guess = callee.closure === null ? byName(name) : 0;
  const taints = mergedTaints(stepped(all, line, `${name}()`), taintsOf(back));
  const value: Val = { ...empty, kind: ofType, taints, parts: settings };
  if (guess !== 0) return cured(value, guess);
  const asked = wrapped(run, callee, given, line);
  return asked ?? { ...value, prefix: prefixOf(name, given) };
}

/** Calls that write into their arguments, and filters that are named by one. */
function byReference(run: Run, call: Call, kind: string, { args }: Given): Val | null {
  const { filters, outputs = {} } = run.table;
  const [first, second] = args;
  const [to] = call.args;
  if (kind === 'settype' && to !== undefined && /int|float|bool|double/i.test(String(second?.constant))) {
    run.assign(to, cured(first ?? empty, allBits), call.line);
    return empty;
  }
  const place = Object.hasOwn(outputs, kind) ? outputs[kind] : undefined;
  const output = place === undefined ? undefined : call.args[place];
  if (output !== undefined) run.assign(output, { ...empty, taints: run.evaluate(call.fn).taints }, call.line);
  if (filters?.call !== kind || first === undefined) return null;
  const chosen = filters.cures.find(([form]) => form.test(second?.kind ?? ''))?.[1] ?? [];
  return cured({ ...first, constant: undefined as never }, bitsOf(chosen));
}

/** What replaces everything but some letters leaves nothing that does harm. */
function replaced(name: string, { args }: Given, receiver: Val | null): Val | null {
  const isMethod = name === 'replace' || name === 'replaceAll';
  if (!isMethod && name !== 'sub' && name !== 'preg_replace') return null;
  const [pattern] = args;
  const subject = isMethod ? receiver : args[2];
  if (typeof pattern?.constant !== 'string' || subject === null || subject === undefined) return null;
  if (/^.?\\W[+*]?.?[a-z]*$/.test(pattern.constant)) return cured(subject, allBits);
  const kept = /^.?\[\^((?:\\.|[^\]\\])*)\][+*]?.?[a-z]*$/.exec(pattern.constant)?.[1];
  return kept === undefined || /["'<>&;|`$()%/\s]|\\[sWDS]/.test(kept.replaceAll('\\/', '/'))
    ? null
    : cured(subject, allBits);
}

/** Constant settings stay with what is made by them: `XMLParser(resolve_entities=False)`. */
function settingsOf({ names }: Given): Map<string, Val> | null {
  const kept = [...names].filter(([, value]) => typeof value.constant === 'boolean');
  return kept.length === 0 ? null : new Map(kept.map(([name, value]) => [`^${name}`, value]));
}

/** A wrapper around a request that is asked for a parameter by a name of its own. */
function wrapped(run: Run, { name, receiver }: Callee, { args }: Given, line: number): Val | null {
  const inner = receiver?.parts?.get('^request');
  if (inner === undefined || run.table.wraps === undefined) return null;
  if (!wrapsParts.test(name)) return empty;
  const part = typeof args[0]?.constant === 'string' ? args[0].constant : '';
  return { ...empty, taints: [{ what: run.table.wraps, part, line, steps: [], cured: 0, isRecord: false }] };
}

/** Formats and URLs begin with their first argument. */
const prefixOf = (name: string, { args: [first, second] }: Given): string => {
  if (/^(?:URL|Request|format|sprintf|Sprintf|vsprintf|resolve|join|Join|Parse|Builder|NewRequest\w*)$/.test(name)) {
    const text = name.startsWith('NewRequest') ? second : first;
    const before = text?.constant === undefined ? (text?.prefix ?? '') : String(text.constant);
    return /^(?:format|s?[sS]printf|vsprintf)$/.test(name) ? (before.split(/%|\{/)[0] ?? '') : before;
  }
  return '';
};

const formats = /^(?:format|sprintf|Sprintf|vsprintf|formatted)$/;

function folded(callee: Callee, { args }: Given, line: number): Val | null {
  const { receiver, name } = callee;
  if (receiver !== null && typeof receiver.constant === 'string') {
    const made = foldMethod(
      name,
      receiver.constant,
      args.map((one) => one.constant),
    );
    if (made !== undefined) return constant(made);
  }
  if (receiver !== null && name === 'concat' && !receiver.isList) return textOf([receiver, ...args], line);
  if (formats.test(name) && args.length > 0 && args.every(isConst) && (receiver === null || isConst(receiver)))
    return { ...empty, isText: true, prefix: prefixOf(name, { args, names: new Map() }) };
  const [form, ...rest] = args;
  if (formats.test(name) && typeof form?.constant === 'string' && receiver?.isText !== true)
    return formatted(form.constant, rest, line);
  if (receiver !== null && name === 'format' && receiver.isText) return textOf([receiver, ...args], line);
  return null;
}

/** Values in a format; what is written as a number is one. */
function formatted(form: string, args: readonly Val[], line: number): Val {
  const marks = [...form.matchAll(/%(?:(\d+)\$)?[-+ 0#'.\d*]*([a-zA-Z])/g)];
  const values = marks.map(([, place, kind = ''], index) => {
    const value = args[place === undefined ? index : Number(place) - 1] ?? empty;
    return /[diuxXobeEfFgG]/.test(kind) ? cured(value, allBits) : value;
  });
  const before = form.slice(0, marks[0]?.index ?? form.length);
  return { ...textOf([constant(before), ...values, empty], line), isText: true };
}

export function evaluateCall(run: Run, call: Call): Val {
  run.spend();
  const callee = calleeOf(run, call);
  const given = givenOf(run, call);
  const line = lineOf(call);
  checkCall(run, callee.kind, given, line);
  checkSinks(run, callee.kind, given, line, callee.receiver);
  if (callee.kind === 'echo') for (const one of given.args) run.html += one.constant ?? one.prefix;
  if (call.isNew) {
    const made = constructed(run, callee, callee.kind, given, line);
    if (made !== null) return made;
    const request = given.args.find(({ kind }) => run.table.requests?.test(lastOf(kind)) === true);
    if (request !== undefined)
      return { ...ofKind(lastOf(callee.kind.slice(4))), parts: new Map([['^request', request]]) };
  } else if (callee.closure === null && run.classes.has(callee.kind)) {
    const made = constructed(run, callee, callee.kind, given, line);
    if (made !== null) return made;
  }
  if (callee.closure !== null) return inlined(run, call, callee, given, line);
  const isPlain = run.table.cureOf.find(callee.kind).length === 0;
  const kept = isPlain ? (folded(callee, given, line) ?? collectedBy(run, call, callee, given)) : null;
  return kept ?? unknownCall(run, call, callee, given, line);
}

function collectedBy(run: Run, call: Call, { receiver, name }: Callee, { args }: Given): Val | null {
  if (receiver === null) return null;
  const made = collected(receiver, name, args, call.line);
  if (made === null) return null;
  written(run, call, made.after);
  return made.value === null ? null : made.value;
}

function inlined(run: Run, call: Call, callee: Callee, given: Given, line: number): Val {
  const closure = callee.closure;
  if (
    closure === null ||
    run.frames.length > inlineDepthMax ||
    run.frames.some(({ closure: one }) => one?.fn === closure.fn)
  )
    return { ...empty, taints: stepped(propagated({ ...callee, receiver: null }, given), line, `${callee.name}()`) };
  const args = given.args.map((one) => {
    const taints = stepped(one.taints, line, `passed to ${callee.name}()`);
    return taints === one.taints ? one : { ...one, taints };
  });
  const made = run.call(closure, args, given.names, line);
  if (closure.self !== null) written(run, call, run.lastSelf);
  const taints = stepped(made.taints, line, `returned by ${callee.name}()`);
  return taints === made.taints ? made : { ...made, taints };
}

/** Follows a function with these arguments. */
export function callClosure(
  run: Run,
  closure: Closure,
  args: readonly Val[],
  names: ReadonlyMap<string, Val>,
  line: number,
): Val {
  const scope = new Scope(closure.scope);
  const frame = { closure, returned: null as Val | null };
  if (run.frames.length > inlineDepthMax || run.frames.some(({ closure: one }) => one?.fn === closure.fn)) return empty;
  run.frames.push(frame);
  run.within(scope, () => {
    if (closure.self !== null) for (const own of selfNames) scope.declare(own, closure.self);
    let at = 0;
    for (const { to, value, type } of closure.fn.params) {
      const own = to.k === 'name' ? to.name : '';
      if (closure.self !== null && selfNames.includes(own)) continue;
      const isRest = to.k === 'un';
      const given = isRest ? restOf(args.slice(at)) : (names.get(own) ?? args[at]);
      at++;
      bind(run, to, given ?? (value === null ? empty : run.evaluate(value)), type, line);
    }
    run.execute(closure.fn.body);
  });
  run.frames.pop();
  const self =
    closure.self === null ? undefined : selfNames.map((one) => scope.vars.get(one)).find((one) => one !== closure.self);
  run.lastSelf = self ?? closure.self;
  return frame.returned ?? empty;
}

export const selfNames: readonly string[] = ['this', 'self', '$this'];
const restOf = (args: readonly Val[]): Val => ({
  ...empty,
  parts: new Map(args.map((one, index) => [String(index), one])),
  isList: true,
});

function bind(run: Run, to: Expr, value: Val, type: string, line: number): void {
  const isKnown = type === '' || run.table.paramKinds.has(value.kind);
  if (to.k === 'name') return run.scope.declare(to.name, isKnown ? value : run.typed(value, type));
  run.assign(to.k === 'un' ? to.of : to, asText(value) === value ? value : value, line);
}
