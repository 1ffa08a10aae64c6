// SQL clients: the text of a statement is read before it is sent, and values beside it (parameters) are not.
import { breaksSql, lexSql, type Dialect } from '../lexers/sql.js';
import type { Token } from '../lexers/token.js';
import { SeenTexts } from '../report/known.js';
import { report } from '../report/report.js';
import type { Visit } from '../requests/visit.js';
import { guarded } from '../state.js';
import { watchMember, type Any } from './wrap.js';

const textMax = 100_000;
const seen = new SeenTexts();

/** Reports a value of the request that is more than data in the statement. */
export function lookAtStatement(visit: Visit, sink: string, text: unknown, dialect: Dialect): void {
  if (typeof text !== 'string' || text.length > textMax || seen.hasSeen(text)) return;
  let tokens: Token[] | null = null;
  for (const value of visit.values()) {
    if (!text.includes(value.text)) continue;
    tokens ??= lexSql(text, dialect);
    const at = breaksSql(text, value.text, tokens);
    if (at === null) continue;
    const effect = 'is read as SQL, beyond the place of one value';
    report(visit, { attack: 'sql_injection', sink, value, text, at, effect });
    return;
  }
}

/** `query('…')`, `query({ text })` of pg, `query({ sql })` of MySQL. */
const textOf = (first: unknown): unknown => {
  if (typeof first !== 'object' || first === null) return first;
  const { text, sql } = first as { readonly text?: unknown; readonly sql?: unknown };
  return text ?? sql;
};

function watchStatements(owner: unknown, names: readonly string[], sink: string, dialect: Dialect): void {
  for (const name of names)
    watchMember(owner, name, (visit, [first]) => lookAtStatement(visit, `${sink}.${name}`, textOf(first), dialect));
}

type Exports = Readonly<Record<string, unknown>>;
const prototypeOf = (maker: unknown): unknown =>
  typeof maker === 'function' ? (maker as { readonly prototype?: unknown }).prototype : undefined;

/** `postgres` gives functions: statements of templates are parameters, those of `unsafe` are texts. */
function watchPostgresSql(sql: unknown): void {
  watchStatements(sql, ['unsafe'], 'postgres', 'postgres');
  for (const name of ['begin', 'reserve', 'savepoint']) {
    const owner = sql as Record<string, unknown>;
    const original = owner[name];
    if (typeof original !== 'function') continue;
    owner[name] = function within(this: unknown, ...given: unknown[]): unknown {
      const wrapped = given.map((one) => (typeof one === 'function' ? withWatched(one as Any) : one));
      const made: unknown = Reflect.apply(original as Any, this, wrapped);
      if (name !== 'reserve' || !(made instanceof Promise)) return made;
      return made.then((reserved: unknown) => {
        guarded(() => watchPostgresSql(reserved));
        return reserved;
      });
    };
  }
}

const withWatched =
  (work: Any): ((...given: unknown[]) => unknown) =>
  (...given) => {
    guarded(() => watchPostgresSql(given[0]));
    return Reflect.apply(work, undefined, given);
  };

const watchedMakers = new WeakMap<object, unknown>();

/** The function that `postgres` exports, so that what it makes is watched. */
export function watchPostgres(maker: unknown): unknown {
  if (typeof maker !== 'function') return maker;
  const known = watchedMakers.get(maker);
  if (known !== undefined) return known;
  const made = new Proxy(maker, {
    apply(target, self, given: unknown[]) {
      const sql: unknown = Reflect.apply(target as Any, self, given);
      guarded(() => watchPostgresSql(sql));
      return sql;
    },
  });
  watchedMakers.set(maker, made);
  watchedMakers.set(made, made);
  return made;
}

/** By the name of the package: what is done with its exports when it is loaded. Returns what is given instead. */
export const clients: Readonly<Record<string, (exports: unknown) => unknown>> = {
  pg: (given) => {
    watchStatements(prototypeOf((given as Exports)['Client']), ['query'], 'pg', 'postgres');
    return given;
  },
  mysql2: (given) => {
    watchMysql(prototypeOf((given as Exports)['Connection']), 'mysql2');
    return given;
  },
  mysql: (given) => {
    const make = (given as Exports)['createConnection'];
    if (typeof make !== 'function') return given;
    // its class is no export: the prototype of the first connection is
    Object.defineProperty(given as object, 'createConnection', {
      ...Object.getOwnPropertyDescriptor(given, 'createConnection'),
      value(this: unknown, ...options: unknown[]): unknown {
        const made: unknown = Reflect.apply(make as Any, this, options);
        guarded(() => watchMysql(Object.getPrototypeOf(made), 'mysql'));
        return made;
      },
    });
    return given;
  },
  'better-sqlite3': (given) => {
    watchStatements(prototypeOf(given), ['prepare', 'exec'], 'better-sqlite3', 'sqlite');
    return given;
  },
  sqlite3: (given) => {
    const names = ['run', 'all', 'get', 'each', 'exec', 'prepare'];
    watchStatements(prototypeOf((given as Exports)['Database']), names, 'sqlite3', 'sqlite');
    return given;
  },
  '@electric-sql/pglite': (given) => {
    const owner: unknown = prototypeOf((given as Exports)['PGlite']);
    const base: unknown = owner === undefined ? undefined : Object.getPrototypeOf(owner);
    for (const one of [owner, base]) watchStatements(one, ['query', 'exec'], 'pglite', 'postgres');
    return given;
  },
  postgres: watchPostgres,
  sqlite: (given) => {
    watchStatements(prototypeOf((given as Exports)['DatabaseSync']), ['prepare', 'exec'], 'node:sqlite', 'sqlite');
    return given;
  },
};

/** The class that is exported inherits its methods from one that is not. */
function watchMysql(prototype: unknown, sink: string): void {
  for (let owner = prototype; typeof owner === 'object' && owner !== null; owner = Object.getPrototypeOf(owner)) {
    if (owner === Object.prototype) return;
    watchStatements(owner, ['query', 'execute'], sink, 'mysql');
  }
}
