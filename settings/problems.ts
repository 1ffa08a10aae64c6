// What is wrong with input, as data: where (a JSON pointer), what, and how to fix it.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

export interface Problem {
  /** JSON pointer (RFC 6901); '' = the whole. */
  readonly path: string;
  /** What is wrong, as a sentence whose subject is the field: `must be at most 4`. */
  readonly reason: string;
  /** How to fix it; '' where the reason says it. */
  readonly fix: string;
}

/**
 * The check of a schema of this house, which fills in defaults and names every problem. Slow: once a process. To
 * shorten the program that Ajv writes takes 0.4 s, for checks that are made a few times an hour; and our own schemas
 * are not held against the schema of schemas, which would have to be compiled as well.
 */
export function compileCheck(schema: object): ValidateFunction {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: false,
    coerceTypes: false,
    verbose: true,
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  return ajv.compile(schema);
}

/** One line per problem, for people. `whole` names what an empty path means. */
export function formatProblems(problems: readonly Problem[], whole = 'the settings'): string {
  const line = ({ path, reason, fix }: Problem): string =>
    `${path === '' ? whole : path} ${reason}${fix === '' ? '' : `; ${fix}`}`;
  return problems.map(line).join('\n');
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

const problemsMax = 100;
/** Names that an unknown member might have meant. */
const knownShownMax = 40;

/** Ajv's errors (made with `verbose`); those that only say "no branch fitted" give way to the branches' own reasons. */
export function explainErrors(errors: readonly ErrorObject[]): Problem[] {
  const found = new Map<string, Problem>();
  for (const error of errors) {
    if (error.keyword === 'anyOf') continue;
    const problem = explain(error);
    const key = `${problem.path} ${problem.reason}`;
    if (!found.has(key)) found.set(key, problem);
    if (found.size >= problemsMax) break;
  }
  const [first] = errors;
  if (found.size === 0) return [{ path: first?.instancePath ?? '', reason: first?.message ?? 'does not fit', fix: '' }];
  return [...found.values()];
}

function explain(error: ErrorObject): Problem {
  const params = error.params as Readonly<Record<string, unknown>>;
  const path = error.instancePath;
  const fix = fixOf(error);
  switch (error.keyword) {
    case 'additionalProperties':
      return {
        path: `${path}/${escapePointer(String(params['additionalProperty']))}`,
        reason: 'is not a known field',
        fix,
      };
    case 'required':
      return { path: `${path}/${escapePointer(String(params['missingProperty']))}`, reason: 'is missing', fix };
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).map(String);
      const meant = typeof error.data === 'string' ? nearest(error.data, allowed) : null;
      return { path, reason: `must be one of ${allowed.join(', ')}`, fix: meant === null ? '' : `write ${meant}` };
    }
    case 'pattern':
      return { path, reason: `does not have the right form`, fix };
    default:
      return { path, reason: error.message ?? error.keyword, fix };
  }
}

interface SchemaText {
  readonly 'x-fix'?: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
}

function fixOf(error: ErrorObject): string {
  const schema = (error.parentSchema ?? {}) as SchemaText;
  if (error.keyword === 'additionalProperties') {
    const names = Object.keys(schema.properties ?? {});
    if (names.length > 0 && names.length <= knownShownMax) return `remove it; known are ${names.join(', ')}`;
    const meant = nearest(String((error.params as Record<string, unknown>)['additionalProperty']), names);
    return meant === null ? 'remove it' : `remove it, or write ${meant}`;
  }
  if (schema['x-fix'] !== undefined) return schema['x-fix'];
  if (error.keyword !== 'pattern') return '';
  return schema.description ?? `it has to match ${schema.pattern ?? 'its pattern'}`;
}

/** Slips of the pen: letters that were added, left out or replaced. */
const slipsMax = 2;

/** The name that was probably meant; null when none is close. */
function nearest(written: string, names: readonly string[]): string | null {
  const longer = names.filter((name) => written.length >= 4 && name.startsWith(written));
  if (longer.length === 1) return longer[0] ?? null;
  const ranked = names.map((name) => ({ name, slips: distance(written, name) })).sort((a, b) => a.slips - b.slips);
  const [best] = ranked;
  return best !== undefined && best.slips <= slipsMax ? best.name : null;
}

/** Levenshtein's, one row at a time. */
function distance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > slipsMax) return Infinity;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...left].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...right].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? Infinity;
}
