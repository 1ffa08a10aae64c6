// What a language table says: where foreign data comes from, where it does harm, what takes the harm out of it, and
// which calls and settings are wrong by themselves. Rows are data; names are matched by `Lookup`.

/** Exactly one of these words, which may be patterns. */
export const words = (text: string): RegExp => new RegExp(`^(?:${text.split(' ').join('|')})$`);

/** What data must not do at a sink. */
export const harms = [
  'sql',
  'nosql',
  'command',
  'code',
  'html',
  'path',
  'address',
  'redirect',
  'ldap',
  'xpath',
  'xml',
  'object',
  'template',
  'header',
  'log',
  'session',
  'pattern',
  'prototype',
  'include',
  'allocation',
  // what is escaped for a quoted place only does harm beside it: in HTML and SQL
  'bare',
] as const;
export type Harm = (typeof harms)[number];

export const bitOf = (harm: Harm): number => 1 << harms.indexOf(harm);
export const bitsOf = (of: readonly Harm[]): number => of.reduce((bits, harm) => bits | bitOf(harm), 0);
/** A number, a truth value, one of a fixed list: nothing that does harm. */
export const allBits = bitsOf(harms);
/** A text in which no part is the sender's choice but letters and digits. */
export const all: readonly Harm[] = harms;

export interface Sink {
  readonly call: string;
  readonly harm: Harm;
  /** Places of arguments; absent: all of them. */
  readonly at?: readonly number[];
  /** Names of arguments beside them. */
  readonly named?: readonly string[];
  /** Only where another argument says so: place or name, and its constant as text. */
  readonly when?: { readonly arg: number | string; readonly is: RegExp };
  /** What of the constant beginning is no part of the value: `Location: `. */
  readonly offset?: RegExp;
  /** Only of a text that begins so: of calls whose names say little. */
  readonly begins?: RegExp;
  /** Of a list only its first part counts, and what follows a shell's `-c`. */
  readonly isList?: boolean;
  /** Of a record given there only this entry counts. */
  readonly entry?: string;
  /** An entry of a later argument that keeps what is below it: `root`. */
  readonly folder?: string;
  readonly severity?: 'low' | 'medium';
  /** Of a command's arguments, each alone: also those after the program. */
  readonly anyArg?: boolean;
  /** It is the receiver that does harm. */
  readonly isReceiver?: boolean;
  /** Another argument whose constant of this form makes it right, by name or at a place. */
  readonly unless?: { readonly arg: number | string; readonly is: RegExp };
  readonly unlessAt?: number;
  /** Arguments that say what is sent: with another one than HTML it is no page. */
  readonly plain?: readonly string[];
  /** An argument of this name that is false makes it right, also where it was given to the parser. */
  readonly safe?: string;
  /** Where the rule is another than the one of the harm. */
  readonly rule?: string;
}

/** How statements of SQL begin. */
export const sqlText = new RegExp(
  String.raw`^\s*(?:\(\s*)?(?:select|insert|update|delete|replace|merge|with|create|drop|alter|call|exec|` +
    String.raw`where|and|or|order by)\b`,
  'i',
);

export interface Check {
  readonly rule: string;
  /** Calls of this name, */
  readonly call?: string;
  /** or this entry of a record, keyword argument or assigned member. */
  readonly entry?: string;
  /** With this constant there; absent: whatever it is. */
  readonly is?: RegExp;
  readonly arg?: number | string;
  /** Only a constant counts, no name of one. */
  readonly isConstant?: boolean;
  /** Only where the argument is missing. */
  readonly isMissing?: boolean;
  /** Only with that many arguments. */
  readonly args?: number;
  /** Of an entry: only in a record of this type or in a call of this name. */
  readonly within?: RegExp;
  /** Another argument that must be a constant of this form. */
  readonly and?: { readonly arg: number | string; readonly is: RegExp };
  /** Another argument whose constant of this form makes it right. */
  readonly unless?: { readonly arg: number | string; readonly is: RegExp };
}

export interface Table {
  /** Names of values → what they are, for people. */
  readonly sources: Readonly<Record<string, string>>;
  /** Those whose parts may be records and not only texts: a query of MongoDB. */
  readonly records?: readonly string[];
  /** What a function with a mark of `routes` returns goes to the client. */
  readonly returned?: Harm;
  readonly sinks: readonly Sink[];
  /** Members and variables that do harm when something is assigned to them. */
  readonly assigned?: Readonly<Record<string, Harm>>;
  /** Calls → what they take out. */
  readonly cures: Readonly<Record<string, readonly Harm[]>>;
  /** A call that takes out what its second argument names. */
  readonly filters?: { readonly call: string; readonly cures: readonly (readonly [RegExp, readonly Harm[]])[] };
  /** Calls that write into one of their arguments: its place. */
  readonly outputs?: Readonly<Record<string, number>>;
  /** An object that is sent becomes JSON. */
  readonly sendsJson?: boolean;
  /** Calls whose value is another one's kind: `Connection.createStatement` → `Statement`. */
  readonly types: Readonly<Record<string, string>>;
  /** Calls whose value has nothing of their arguments. */
  readonly drops: RegExp;
  /** Names of parameters → the kind of value that they are. */
  readonly params?: Readonly<Record<string, string>>;
  /** Marks of parameters that make them foreign: annotations, decorators. */
  readonly marks?: RegExp;
  /** Marks of functions whose parameters are foreign. */
  readonly routes?: RegExp;
  readonly checks: readonly Check[];
  /** Statements that end a function beside `return`: `exit()`. */
  readonly ends?: RegExp;
  /** Calls that are true of a value that is harmless: `is_numeric(x)`, `x.isdigit()`. */
  readonly guards?: Readonly<Record<string, readonly Harm[]>>;
  /** Kinds of values that are requests: a wrapper around one is asked for parameters by names of its own. */
  readonly requests?: RegExp;
  /** What such a wrapper gives. */
  readonly wraps?: string;
  /** Sum of texts and numbers with `.`: PHP. */
  readonly joinsWith?: string;
}

/** Rows by name: the whole name, its last two parts, `*.last`. */
export class Lookup<Row> {
  readonly #rows = new Map<string, Row[]>();

  constructor(rows: Iterable<readonly [name: string, row: Row]>) {
    for (const [name, row] of rows) {
      const known = this.#rows.get(name);
      if (known === undefined) this.#rows.set(name, [row]);
      else known.push(row);
    }
  }

  exact(name: string): readonly Row[] {
    return this.#rows.get(name) ?? none;
  }

  /** The most exact name that has rows; nothing else. */
  find(name: string): readonly Row[] {
    if (name === '') return none;
    const exact = this.#rows.get(name);
    if (exact !== undefined) return exact;
    const last = name.lastIndexOf('.');
    if (last === -1) return none;
    const before = name.lastIndexOf('.', last - 1);
    const short = before === -1 ? undefined : this.#rows.get(name.slice(before + 1));
    return short ?? this.#rows.get(`*.${name.slice(last + 1)}`) ?? none;
  }
}
const none: readonly never[] = [];
