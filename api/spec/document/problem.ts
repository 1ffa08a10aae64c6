// What is wrong with a specification: where (JSON pointer and line), what, and how to fix it.

export interface SpecProblem {
  /** error: it is not taken; warning: it is, and this part of it is not enforced. */
  readonly severity: 'error' | 'warning';
  /** JSON pointer (RFC 6901) into the document; '' = the whole. */
  readonly path: string;
  /** Of the text that was sent, from 1. */
  readonly line: number;
  /** A sentence whose subject is the part: `is missing`. */
  readonly reason: string;
  readonly fix: string;
}

export type Path = readonly (string | number)[];

export const pointerOf = (path: Path): string =>
  path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export type JsonObject = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
export const textOf = (value: unknown, fallback = ''): string => (typeof value === 'string' ? value : fallback);
