// The database of the second lab: a real one, whose statements are joined of values where a flaw is planted.
import { PGlite } from '@electric-sql/pglite';

export type Rows = readonly Record<string, unknown>[];

export class Store {
  readonly #db = new PGlite();

  async fill(): Promise<void> {
    await this.#db.exec(`
      create table books (id int, title text, genre text, isbn text, price int, hidden boolean);
      insert into books values (1, 'Tides', 'sea', '978-1', 12, false), (2, 'Lighthouses', 'sea', '978-2', 30, false),
        (3, 'Ropes and knots', 'craft', '978-3', 8, false), (4, 'Unpublished', 'sea', '978-4', 99, true);
      create table people (login text, word text, mail text);
      insert into people values ('mara', 'kelp-and-salt', 'mara@harbour.example');`);
  }

  /** The statement as it stands. Throws what the database says. */
  async run(statement: string): Promise<Rows> {
    return (await this.#db.query<Record<string, unknown>>(statement)).rows;
  }

  /** With values that are bound. */
  async ask(statement: string, values: readonly unknown[]): Promise<Rows> {
    return (await this.#db.query<Record<string, unknown>>(statement, [...values])).rows;
  }

  async close(): Promise<void> {
    await this.#db.close();
  }
}

/** Conditions as a store of documents reads them: operators in a value are obeyed. */
export function matches(value: string, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  return Object.entries(wanted).every(([operator, operand]) => {
    if (operator === '$ne') return value !== operand;
    if (operator === '$eq') return value === operand;
    if (operator === '$gt') return value > String(operand);
    return operator === '$regex' ? new RegExp(String(operand)).test(value) : false;
  });
}
