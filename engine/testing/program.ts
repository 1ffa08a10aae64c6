// Small programs for tests of this room, which has no rule parser: defaults for everything, and a one-line runner.
import { createMemoryStore } from '../transaction/memory-store.js';
import type { Inspector } from '../transaction/inspector.js';
import { defaultEngineSettings } from '../program/ir.js';
import type {
  ActionIR,
  EngineSettings,
  LinkIR,
  MarkerIR,
  OperatorIR,
  Phase,
  Program,
  RuleIR,
  Selector,
  TargetIR,
  Template,
} from '../program/ir.js';
import type { CollectionStore } from '../transaction/store.js';
import type { RequestHead, ResponseHead, Transaction } from '../transaction/transaction.js';
import type { Verdict } from '../transaction/verdict.js';

export function target(variable: string, selector: string | RegExp | null = null, count = false): TargetIR {
  const bound: Selector | null =
    selector === null
      ? null
      : typeof selector === 'string'
        ? variable === 'XML'
          ? { kind: 'xpath', expression: selector }
          : { kind: 'name', name: selector.toLowerCase() }
        : { kind: 'regex', source: selector.source };
  return { variable, selector: bound, count };
}

/** `'rx foo'`, `'!eq 0'`; a template makes it a macro argument. */
export function operator(text: string, template: Template | null = null): OperatorIR {
  const negated = text.startsWith('!');
  const [name = '', ...rest] = text.slice(negated ? 1 : 0).split(' ');
  return { name, negated, argument: rest.join(' '), template, phrases: null };
}

export function link(targets: readonly TargetIR[], operatorIr: OperatorIR | null, more: Partial<LinkIR> = {}): LinkIR {
  return {
    targets,
    exclusions: [],
    operator: operatorIr,
    transformations: [],
    multiMatch: false,
    capture: false,
    actions: [],
    msg: null,
    logdata: null,
    file: 0,
    line: 1,
    ...more,
  };
}

export function rule(id: number, phase: Phase, links: readonly LinkIR[], more: Partial<RuleIR> = {}): RuleIR {
  return {
    kind: 'rule',
    index: 0,
    id,
    phase,
    links,
    disruptive: { kind: 'pass' },
    log: true,
    auditlog: true,
    severity: null,
    tags: [],
    ver: null,
    rev: null,
    maturity: null,
    accuracy: null,
    skip: 0,
    skipAfter: null,
    xmlns: [],
    ...more,
  };
}

/** A SecAction. */
export function action(id: number, phase: Phase, actions: readonly ActionIR[], more: Partial<RuleIR> = {}): RuleIR {
  return rule(id, phase, [link([], null, { actions })], more);
}

export function setTx(
  name: string,
  value: Template,
  operation: 'set' | 'add' | 'subtract' | 'unset' = 'set',
): ActionIR {
  return { kind: 'setvar', collection: 'TX', key: [name], operation, value };
}

export function marker(name: string): MarkerIR {
  return { kind: 'marker', index: 0, name };
}

export function program(items: readonly (RuleIR | MarkerIR)[], settings: Partial<EngineSettings> = {}): Program {
  const placed = items.map((item, index) => ({ ...item, index }));
  const phases = [0, 1, 2, 3, 4, 5].map((phase) =>
    placed.filter((item) => phase > 0 && (item.kind === 'marker' || item.phase === phase)).map(({ index }) => index),
  );
  return {
    version: 1,
    settings: { ...defaultEngineSettings, ruleEngine: 'On', requestBodyAccess: true, ...settings },
    items: placed,
    phases,
    files: ['test.conf'],
  };
}

export interface Exchange {
  readonly method?: string;
  readonly uri?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly response?: Partial<ResponseHead> & { readonly body?: string };
  readonly store?: CollectionStore;
  readonly nowMs?: number;
}

/** All five phases; `matched` are the ids in order. */
export function exchange(
  inspector: Inspector,
  request: Exchange = {},
): { transaction: Transaction; verdict: Verdict; matched: number[] } {
  const head: RequestHead = {
    method: request.method ?? 'GET',
    uri: request.uri ?? '/',
    protocol: 'HTTP/1.1',
    headers: request.headers ?? [],
    clientIp: '192.0.2.1',
    clientPort: 1000,
    serverIp: '192.0.2.9',
    serverPort: 8080,
  };
  const transaction = inspector.begin(head, {
    uniqueId: 'u1',
    nowMs: request.nowMs ?? 0,
    store: request.store ?? createMemoryStore(),
  });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, request.body === undefined ? null : Buffer.from(request.body, 'latin1'));
  const { response } = request;
  inspector.responseHeaders(transaction, {
    status: response?.status ?? 200,
    protocol: 'HTTP/1.1',
    headers: response?.headers ?? ['Content-Type', 'text/html'],
  });
  inspector.responseBody(transaction, response?.body === undefined ? null : Buffer.from(response.body, 'latin1'));
  const verdict = inspector.finish(transaction);
  return { transaction, verdict, matched: verdict.matched.map((one) => one.rule.id) };
}
