// The binder's working state: rules with their actions accumulated, before defaults, updates and removals are applied.
import type { ActionIR, OperatorIR, Phase, TargetIR, Template } from '#engine/compile';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { SourceFile, SourceSet, Span } from '../text/source.js';

export type DisruptiveChoice =
  | { readonly kind: 'pass' | 'deny' | 'drop' | 'block' }
  | { readonly kind: 'redirect'; readonly url: Template }
  | { readonly kind: 'allow'; readonly scope: 'all' | 'phase' | 'request' };

/** What the actions of one rule (or link, or SecDefaultAction) said. null = said nothing. */
export interface ActionSet {
  id: number | null;
  phase: Phase | null;
  chain: boolean;
  disruptive: DisruptiveChoice | null;
  status: number | null;
  log: boolean | null;
  auditlog: boolean | null;
  severity: number | null;
  readonly tags: string[];
  ver: string | null;
  rev: string | null;
  maturity: number | null;
  accuracy: number | null;
  skip: number;
  skipAfter: string | null;
  readonly xmlns: (readonly [string, string])[];
  /** In order, `none` included: it resets what stands before it, defaults too. */
  readonly transformations: string[];
  multiMatch: boolean;
  capture: boolean;
  readonly actions: ActionIR[];
  msg: { readonly text: string; readonly template: Template } | null;
  logdata: Template | null;
}

export function createActionSet(): ActionSet {
  return {
    id: null,
    phase: null,
    chain: false,
    disruptive: null,
    status: null,
    log: null,
    auditlog: null,
    severity: null,
    tags: [],
    ver: null,
    rev: null,
    maturity: null,
    accuracy: null,
    skip: 0,
    skipAfter: null,
    xmlns: [],
    transformations: [],
    multiMatch: false,
    capture: false,
    actions: [],
    msg: null,
    logdata: null,
  };
}

export interface BoundLink extends Span {
  readonly targets: TargetIR[];
  readonly exclusions: TargetIR[];
  readonly operator: OperatorIR | null;
  readonly set: ActionSet;
  readonly line: number;
}

export interface BoundRule {
  readonly kind: 'rule';
  readonly id: number;
  readonly phase: Phase;
  readonly links: [BoundLink, ...BoundLink[]];
}

export interface BoundMarker {
  readonly kind: 'marker';
  readonly name: string;
}

/** Where to look things up and where to complain while one directive is bound. */
export class BindContext {
  constructor(
    readonly sources: SourceSet,
    readonly diagnostics: Diagnostics,
  ) {}

  file(id: number): SourceFile {
    return this.sources.file(id);
  }

  report(code: Parameters<Diagnostics['report']>[0], message: string, at: Span, hint?: string): void {
    this.diagnostics.report(code, message, this.sources.file(at.file), at, hint);
  }
}

/** Names in messages are shown short, so that a pasted megabyte does not become a megabyte of diagnostics. */
export function quoteForMessage(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return `"${short.replace(/[^\x20-\x7e]/g, '?')}"`;
}

/** A decimal number in [min, max] or null. */
export function parseDecimal(text: string, min: number, max: number): number | null {
  if (!/^[0-9]{1,15}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

/** Ids and ranges, separated by commas or blanks: `1, 10-20`. null when anything else stands there. */
export function parseIdRanges(text: string): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const part of text.split(/[\s,]+/)) {
    if (part === '') continue;
    const match = /^([0-9]{1,15})(?:-([0-9]{1,15}))?$/.exec(part.replace(/^["']|["']$/g, ''));
    if (match === null) return null;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    if (to < from) return null;
    ranges.push([from, to]);
  }
  return ranges.length === 0 ? null : ranges;
}
