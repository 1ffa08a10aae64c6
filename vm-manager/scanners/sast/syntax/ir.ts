// What all languages are lowered to: expressions and statements with a line each. It keeps what flows of data need, no
// more: names, members, calls, texts put together, branches.
export type Const = string | number | boolean | null;

export type Expr =
  | { readonly k: 'lit'; readonly value: Const; readonly line: number }
  | { readonly k: 'name'; readonly name: string; readonly line: number }
  | { readonly k: 'member'; readonly of: Expr; readonly name: string; readonly line: number }
  | { readonly k: 'index'; readonly of: Expr; readonly key: Expr | null; readonly line: number }
  | Call
  | { readonly k: 'bin'; readonly op: string; readonly left: Expr; readonly right: Expr; readonly line: number }
  | { readonly k: 'un'; readonly op: string; readonly of: Expr; readonly line: number }
  | { readonly k: 'cond'; readonly test: Expr; readonly yes: Expr; readonly no: Expr; readonly line: number }
  /** Texts and values put together: templates, interpolated strings. */
  | { readonly k: 'text'; readonly parts: readonly Expr[]; readonly line: number }
  | { readonly k: 'list'; readonly items: readonly Expr[]; readonly line: number }
  | Dict
  | { readonly k: 'fn'; readonly fn: Fn; readonly line: number }
  | { readonly k: 'set'; readonly to: Expr; readonly op: string; readonly value: Expr; readonly line: number }
  | { readonly k: 'cast'; readonly type: string; readonly of: Expr; readonly line: number }
  /** Anything else: its parts are evaluated, its value is all of them together. */
  | { readonly k: 'many'; readonly parts: readonly Expr[]; readonly line: number };

export interface Call {
  readonly k: 'call';
  readonly fn: Expr;
  readonly args: readonly Expr[];
  /** Of arguments that have one. */
  readonly names: ReadonlyMap<string, Expr>;
  readonly isNew: boolean;
  readonly line: number;
}

export interface Dict {
  readonly k: 'dict';
  /** Of a composite literal: its type. */
  readonly type: string;
  /** key null: all parts of the value (`...other`). */
  readonly entries: readonly (readonly [key: Expr | null, value: Expr])[];
  readonly line: number;
}

export interface Param {
  readonly to: Expr;
  readonly type: string;
  readonly marks: readonly Expr[];
  readonly value: Expr | null;
}

export interface Fn {
  readonly name: string;
  readonly params: readonly Param[];
  readonly body: readonly Stmt[];
  readonly marks: readonly Expr[];
  readonly isExported: boolean;
  readonly line: number;
}

export interface ClassOf {
  readonly name: string;
  readonly bases: readonly string[];
  readonly fields: readonly Stmt[];
  readonly methods: readonly Fn[];
  readonly marks: readonly Expr[];
}

export type Stmt =
  | { readonly k: 'expr'; readonly of: Expr; readonly line: number }
  | { readonly k: 'var'; readonly to: Expr; readonly type: string; readonly value: Expr | null; readonly line: number }
  | {
      readonly k: 'if';
      readonly test: Expr;
      readonly yes: readonly Stmt[];
      readonly no: readonly Stmt[];
      readonly line: number;
    }
  | {
      readonly k: 'loop';
      readonly first: readonly Stmt[];
      readonly test: Expr | null;
      /** `for (to of over)`; `key` where the loop names it. */
      readonly each: {
        readonly key: Expr | null;
        readonly to: Expr;
        readonly over: Expr;
        readonly type: string;
      } | null;
      readonly body: readonly Stmt[];
      readonly line: number;
    }
  | {
      readonly k: 'switch';
      readonly on: Expr;
      /** tests empty: default. */
      readonly cases: readonly { readonly tests: readonly Expr[]; readonly body: readonly Stmt[] }[];
      readonly falls: boolean;
      readonly line: number;
    }
  | { readonly k: 'return' | 'throw'; readonly value: Expr | null; readonly line: number }
  | { readonly k: 'break'; readonly line: number }
  | {
      readonly k: 'try';
      readonly body: readonly Stmt[];
      readonly handlers: readonly (readonly Stmt[])[];
      readonly last: readonly Stmt[];
      readonly line: number;
    }
  | { readonly k: 'block'; readonly body: readonly Stmt[]; readonly line: number }
  | { readonly k: 'fn'; readonly fn: Fn; readonly line: number }
  | { readonly k: 'class'; readonly of: ClassOf; readonly line: number }
  /** local name → qualified name. */
  | { readonly k: 'import'; readonly names: ReadonlyMap<string, string>; readonly line: number }
  /** Text that a page begins with, outside of the program. */
  | { readonly k: 'html'; readonly text: string; readonly line: number };

export const lit = (value: Const, line: number): Expr => ({ k: 'lit', value, line });
export const name = (text: string, line: number): Expr => ({ k: 'name', name: text, line });
export const noNames: ReadonlyMap<string, Expr> = new Map();
