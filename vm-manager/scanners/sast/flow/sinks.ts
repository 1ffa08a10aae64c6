// Where foreign data does harm, and what is wrong by itself: sinks, settings, weak calls.
import type { Call, Dict, Expr } from '../syntax/ir.js';
import { bitOf, type Check, type Harm, type Sink } from '../tables/table.js';
import { isOpenPlace } from './page.js';
import type { Run } from './run.js';
import { taintsOf, type Closure, type Taint, type Val } from './value.js';

export interface Given {
  readonly args: readonly Val[];
  readonly names: ReadonlyMap<string, Val>;
}

/** A rule's id is the harm's name unless a row says otherwise. */
export const ruleOfHarm: Readonly<Record<Harm, string>> = {
  sql: 'sql-injection',
  nosql: 'nosql-injection',
  command: 'command-injection',
  code: 'code-injection',
  html: 'cross-site-scripting',
  path: 'path-traversal',
  address: 'server-side-request-forgery',
  redirect: 'open-redirect',
  ldap: 'ldap-injection',
  xpath: 'xpath-injection',
  xml: 'xml-external-entities',
  object: 'unsafe-deserialization',
  template: 'template-injection',
  header: 'header-injection',
  log: 'log-injection',
  session: 'trust-boundary',
  pattern: 'pattern-from-input',
  prototype: 'prototype-pollution',
  include: 'file-inclusion',
  allocation: 'uncontrolled-allocation',
  bare: 'cross-site-scripting',
};

const hostFixed = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+[/?#]/i;
const pathFixed = /^\/(?:[^/\\]|$)/;

/** A fixed beginning leaves no choice of the host. */
const isHeld = (harm: Harm, { prefix }: Val): boolean =>
  (harm === 'address' && (hostFixed.test(prefix) || (pathFixed.test(prefix) && prefix.length > 1))) ||
  (harm === 'redirect' &&
    (hostFixed.test(prefix) || (pathFixed.test(prefix) && prefix.length > 1) || /^[?#]/.test(prefix)));

const shells = /(?:^|[/\\])(?:ba|da|z|k)?sh$|(?:^|[/\\])cmd(?:\.exe)?$|powershell/i;

/** Of a command that is a list of words: the program, and what a shell reads. */
function commandTaints(value: Val): readonly Taint[] {
  if (value.parts === null) return value.isList ? [] : value.taints;
  const [first, second] = [value.parts.get('0'), value.parts.get('1')];
  const isShell = typeof first?.constant === 'string' && shells.test(first.constant);
  if (isShell && typeof second?.constant === 'string' && /^[-/]/.test(second.constant)) return taintsOf(value);
  return first === undefined ? taintsOf(value) : taintsOf(first);
}

function harmfulTaint(run: Run, value: Val, harm: Harm, sink: Sink | null): Taint | undefined {
  if (isHeld(harm, value)) return undefined;
  const held = sink?.offset === undefined ? value : { ...value, prefix: value.prefix.replace(sink.offset, '') };
  if (sink?.offset !== undefined && isHeld(harm, held)) return undefined;
  if (sink?.begins !== undefined && !sink.begins.test(value.prefix)) return undefined;
  const part = sink?.entry === undefined ? value : value.parts?.get(sink.entry);
  if (part === undefined) return undefined;
  const taints = sink?.isList === true ? commandTaints(part) : taintsOf(part);
  const bit = bitOf(harm);
  // an object is sent as JSON
  if (harm === 'html' && run.table.sendsJson === true && part.parts !== null && !part.isText) return undefined;
  return taints.find((one) => {
    if (harm === 'nosql' && !one.isRecord) return false;
    if (harm === 'html' && one.isRecord && one.part === '' && !part.isText) return false;
    return (one.cured & bit) === 0 || ((one.cured & bareBit) === 0 && isBarePlace(run, harm, part));
  });
}

const bareBit = bitOf('bare');

/** What is escaped for quotes stands beside them. */
function isBarePlace(run: Run, harm: Harm, { prefix }: Val): boolean {
  if (harm === 'sql') return prefix !== '' && !/["'`]%?$/.test(prefix);
  return harm === 'html' && isOpenPlace(run.html + prefix);
}

const shown = (taint: Taint): string => (taint.part === '' ? taint.what : `${taint.what} "${taint.part}"`);

export function tellFlow(run: Run, taint: Taint, harm: Harm, where: string, line: number, sink: Sink | null): void {
  const source = shown(taint);
  // what was stored may have been checked before
  const severity = sink?.severity ?? (taint.what.startsWith('stored') ? 'medium' : undefined);
  run.tell({
    rule: sink?.rule ?? ruleOfHarm[harm],
    line,
    message: `${source} from line ${taint.line} reaches ${where}`,
    path: [
      { line: taint.line, what: source },
      ...taint.steps.filter((step) => step.line !== line && step.line !== taint.line),
      { line, what: where },
    ],
    ...(severity === undefined ? {} : { severity }),
  });
}

const argOf = ({ args, names }: Given, at: number | string): Val | undefined =>
  typeof at === 'number'
    ? args[at]
    : at
        .split('|')
        .map((one) => names.get(one) ?? args.find((arg) => arg.parts?.has(one))?.parts?.get(one))
        .find((one) => one !== undefined);

const textOfConstant = (value: Val | undefined): string | undefined => {
  if (value === undefined) return undefined;
  if (value.constant !== undefined) return String(value.constant);
  const first = value.isList ? value.parts?.get('0') : undefined;
  return first === undefined ? value.kind || undefined : textOfConstant({ ...first, parts: null });
};

const holds = (given: Given, { arg, is }: { readonly arg: number | string; readonly is: RegExp }): boolean => {
  const text = textOfConstant(argOf(given, arg));
  return text !== undefined && is.test(text);
};

/** Other arguments say that it is right, or another sink. */
function isPassed(given: Given, { when, folder, unless, unlessAt, plain, safe }: Sink): boolean {
  if (when !== undefined && !holds(given, when)) return true;
  if (folder !== undefined && argOf(given, folder) !== undefined) return true;
  if (unless !== undefined && holds(given, unless)) return true;
  if (unlessAt !== undefined && unless !== undefined && holds(given, { arg: unlessAt, is: unless.is })) return true;
  if (
    safe !== undefined &&
    given.args.concat(...given.names.values()).some((one) => one.parts?.get(`^${safe}`)?.constant === false)
  )
    return true;
  return plain?.some((name) => holds(given, { arg: name, is: /^(?!.*html)/i })) === true;
}

export function checkSinks(run: Run, kind: string, given: Given, line: number, receiver: Val | null): void {
  for (const sink of run.table.sinkOf.find(kind)) {
    if (isPassed(given, sink)) continue;
    const values =
      sink.isReceiver === true
        ? [receiver ?? undefined]
        : sink.at === undefined && sink.named === undefined
          ? [...given.args, ...given.names.values()]
          : [
              ...(sink.at ?? []).map((at) => given.args[at]),
              ...(sink.named ?? []).map((name) => given.names.get(name)),
            ];
    for (const value of values) {
      const taint = value === undefined ? undefined : harmfulTaint(run, value, sink.harm, sink);
      if (taint !== undefined) tellFlow(run, taint, sink.harm, `${plainName(kind)}()`, line, sink);
    }
  }
}

/** A kind as people write it: its last two parts. */
export const plainName = (kind: string): string =>
  kind.replace(/^\?\./, '').replaceAll('()', '').replaceAll('^', '').split('.').slice(-2).join('.');

function isBroken(check: Check, given: Given): boolean {
  const { arg, is, isMissing, args, and, unless } = check;
  if (args !== undefined && given.args.length !== args) return false;
  if (and !== undefined && !holds(given, and)) return false;
  if (unless !== undefined && holds(given, unless)) return false;
  if (arg === undefined) return true;
  const value = argOf(given, arg);
  if (isMissing === true) return value === undefined && !given.args.some((one) => one.parts?.has('*') === true);
  if (check.isConstant === true && value?.constant === undefined) return false;
  return value !== undefined && (is === undefined || holds(given, { arg, is }));
}

const tellCheck = (run: Run, check: Check, what: string, line: number): void =>
  run.tell({ rule: check.rule, line, message: what, path: [] });

export function checkCall(run: Run, kind: string, given: Given, line: number): void {
  for (const check of run.table.callChecks.find(kind))
    if (isBroken(check, given)) tellCheck(run, check, `call of ${plainName(kind)}()`, line);
  for (const [name, value] of given.names) checkEntry(run, name, value, kind, line);
}

function checkEntry(run: Run, entry: string, value: Val, within: string, line: number): void {
  for (const check of run.table.entryChecks.get(entry) ?? []) {
    if (check.within !== undefined && !check.within.test(within)) continue;
    const text = textOfConstant(value);
    if (check.is === undefined || (text !== undefined && check.is.test(text)))
      tellCheck(run, check, `${entry}${text === undefined ? '' : ` is ${text.slice(0, 60)}`}`, line);
  }
}

const lineIn = (dict: Dict, name: string): number =>
  dict.entries.find(
    ([key]) => key !== null && (key.k === 'lit' ? key.value : key.k === 'name' ? key.name : '') === name,
  )?.[1].line ?? dict.line;

export function checkEntries(run: Run, type: string, parts: ReadonlyMap<string, Val>, dict: Dict): void {
  for (const [name, value] of parts) {
    checkEntry(run, name, value, type, lineIn(dict, name));
    const [harm] = run.table.assignedOf.find(`{}.${name}`);
    const taint = harm === undefined ? undefined : harmfulTaint(run, value, harm, null);
    if (harm !== undefined && taint !== undefined) tellFlow(run, taint, harm, name, lineIn(dict, name), null);
  }
}

export function checkAssigned(run: Run, base: Val, name: string, value: Val, line: number): void {
  const kind = `${base.kind === '' ? '?' : base.kind}.${name}`;
  checkEntry(run, name, value, base.kind, line);
  const [harm] = run.table.assignedOf.find(kind);
  const taint = harm === undefined ? undefined : harmfulTaint(run, value, harm, null);
  if (harm !== undefined && taint !== undefined) tellFlow(run, taint, harm, name, line, null);
}

/** What a route's function returns goes to the client. */
export function checkReturned(run: Run, { fn }: Closure, value: Val, line: number): void {
  const { returned, routes } = run.table;
  if (returned === undefined || routes === undefined) return;
  if (!fn.marks.some((mark) => routes.test(calledName(mark)))) return;
  const body = value.isList ? (value.parts?.get('0') ?? value) : value;
  // only a text is a page; FastAPI makes JSON of all else
  if (run.scope.find('FastAPI') !== undefined || run.scope.find('APIRouter') !== undefined) return;
  const taint = harmfulTaint(run, body, returned, null);
  if (taint !== undefined) tellFlow(run, taint, returned, 'the page that is returned', line, null);
}

export const calledName = (of: Expr): string =>
  of.k === 'name'
    ? of.name
    : of.k === 'member'
      ? `${calledName(of.of)}.${of.name}`
      : of.k === 'call'
        ? calledName(of.fn)
        : '';

export const lineOf = (call: Call): number => {
  const { fn } = call;
  return fn.k === 'member' && fn.of.k === 'call' ? Math.max(call.line, fn.line) : call.line;
};
