// A schema → a check. What is understood: the vocabularies of JSON Schema 2020-12 that OpenAPI 3.1 uses, without
// `$dynamicRef` and without `$id` inside (references are looked up by their text). Unknown keywords say nothing.
import type { JsonSchema } from '../plan.js';
import { allOf, always, isMap, type Check, type JsonMap } from './check.js';
import { oneOfValues } from './equality.js';
import { declaredBy } from './evaluated.js';
import { listChecks, unevaluatedItems } from './lists.js';
import { memberCheck, objectChecks, unevaluatedMembers } from './objects.js';
import type { Parts } from './parts.js';
import { compilePattern } from './patterns.js';
import { numberCheck, textCheck, typeCheck } from './values.js';

export interface CompileOptions {
  /** Schemas by the text of references to them. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
  /**
   * Members that no schema declares are refused, unless one says by additionalProperties or unevaluatedProperties that
   * they may come, or nothing is declared at all.
   */
  readonly closes: boolean;
  /** What `readOnly` and `writeOnly` mean; null: nothing. */
  readonly direction: 'request' | 'response' | null;
}

const inPlaceKeywords = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas', 'not'];

export class Compiler implements Parts {
  private readonly made = new Map<string, Check>();

  constructor(private readonly options: CompileOptions) {}

  resolve(reference: string): JsonSchema {
    const { definitions } = this.options;
    return Object.hasOwn(definitions, reference) ? (definitions[reference] ?? true) : true;
  }

  pattern(pattern: string): { test(text: string): boolean } {
    return compilePattern(pattern);
  }

  part(schema: unknown): Check {
    return this.check(schema, this.options.closes);
  }

  inPlace(schema: unknown): Check {
    return this.check(schema, false);
  }

  isRefused(schema: unknown, hops = 0): boolean {
    const { direction } = this.options;
    if (direction === null || !isMap(schema) || hops > 20) return false;
    if (schema[direction === 'request' ? 'readOnly' : 'writeOnly'] === true) return true;
    return typeof schema['$ref'] === 'string' && this.isRefused(this.resolve(schema['$ref']), hops + 1);
  }

  get refusal(): Check {
    const keyword = this.options.direction === 'request' ? 'readOnly' : 'writeOnly';
    return (_value, trace) => trace.fail(keyword);
  }

  private check(schema: unknown, closes: boolean): Check {
    if (schema === true || schema === undefined || schema === null) return always;
    if (!isMap(schema)) return schema === false ? (_value, trace) => trace.fail('false') : always;
    const { $ref } = schema;
    if (typeof $ref === 'string' && Object.keys(schema).length === 1) return this.referenced($ref, closes);
    const isInPlace = inPlaceKeywords.some((name) => schema[name] !== undefined);
    const declared = closes ? declaredBy(this, schema) : { names: false, open: true };
    const shuts = closes && declared.names && !declared.open;
    const checks = [
      schema['type'] === undefined ? null : typeCheck(schema['type']),
      Array.isArray(schema['enum']) ? oneOfValues(schema['enum'] as unknown[], 'enum') : null,
      'const' in schema ? oneOfValues([schema['const']], 'const') : null,
      textCheck(schema),
      numberCheck(schema),
      memberCheck(this, schema, shuts && !isInPlace),
      ...objectChecks(this, schema),
      ...listChecks(this, schema),
      ...(isInPlace ? this.combinations(schema) : []),
      shuts && isInPlace ? unevaluatedMembers(this, schema, null) : null,
      this.unevaluatedOf(schema),
      unevaluatedItems(this, schema),
    ].filter((check) => check !== null);
    return allOf(checks);
  }

  private unevaluatedOf(schema: JsonMap): Check | null {
    const wanted = schema['unevaluatedProperties'];
    if (wanted === undefined || wanted === true) return null;
    return unevaluatedMembers(this, schema, wanted === false ? null : this.part(wanted));
  }

  /** Made when it is first asked, since a schema may contain itself. */
  private referenced(reference: string, closes: boolean): Check {
    const key = `${closes} ${reference}`;
    let target = this.made.get(key) ?? null;
    return (value, trace) => {
      if (target === null) {
        target = this.made.get(key) ?? this.check(this.resolve(reference), closes);
        this.made.set(key, target);
      }
      if (!trace.step()) return trace.fail('budget');
      trace.depth += 1;
      const fits = target(value, trace);
      trace.depth -= 1;
      return fits;
    };
  }

  private combinations(schema: JsonMap): Check[] {
    const { $ref, allOf: all, not, if: when } = schema;
    const checks: Check[] = [];
    if (typeof $ref === 'string') checks.push(this.referenced($ref, false));
    if (Array.isArray(all)) for (const one of all as unknown[]) checks.push(this.inPlace(one));
    const { anyOf, oneOf } = schema;
    if (Array.isArray(anyOf)) checks.push(this.alternatives(anyOf, schema, 'anyOf'));
    if (Array.isArray(oneOf)) checks.push(this.alternatives(oneOf, schema, 'oneOf'));
    if (not !== undefined) checks.push(this.negation(not));
    if (when !== undefined) {
      const [holds, met, unmet] = [when, schema['then'], schema['else']].map((one) => this.inPlace(one));
      checks.push((value, trace) => (holds?.(value, trace) === true ? met : unmet)?.(value, trace) ?? true);
    }
    return checks;
  }

  private negation(schema: unknown): Check {
    const check = this.inPlace(schema);
    return (value, trace) => !check(value, trace) || trace.fail('not');
  }

  /** The failure that is told is that of the alternative that came furthest into the value. */
  private alternatives(list: readonly unknown[], schema: JsonMap, keyword: 'anyOf' | 'oneOf'): Check {
    const checks = list.map((one) => this.inPlace(one));
    const chosen = discriminatorOf(schema, list);
    return (value, trace) => {
      const only = chosen?.(value);
      if (only !== undefined) return only === -1 ? trace.fail('discriminator') : (checks[only]?.(value, trace) ?? true);
      let fitting = 0;
      let deepest: readonly (string | number)[] = [];
      let reason = keyword as string;
      for (const check of checks) {
        if (!trace.step()) return trace.fail('budget');
        if (check(value, trace)) {
          if (keyword === 'anyOf') return true;
          fitting += 1;
        } else if (trace.path.length > deepest.length) {
          deepest = trace.path;
          reason = trace.keyword;
        }
      }
      if (fitting === 1) return true;
      trace.fail(fitting > 1 ? keyword : reason);
      if (fitting === 0) trace.path = [...deepest];
      return false;
    };
  }
}

/** Which alternative a value names by itself (OpenAPI 3.1 section 4.8.25): its index, -1 for none of them. */
function discriminatorOf(schema: JsonMap, list: readonly unknown[]): ((value: unknown) => number | undefined) | null {
  const { discriminator } = schema;
  if (!isMap(discriminator) || typeof discriminator['propertyName'] !== 'string') return null;
  const name = discriminator['propertyName'];
  const references = list.map((one) => (isMap(one) && typeof one['$ref'] === 'string' ? one['$ref'] : null));
  if (references.includes(null)) return null;
  const byValue = new Map(references.map((one, index) => [String(one).slice(String(one).lastIndexOf('/') + 1), index]));
  for (const [value, target] of Object.entries(isMap(discriminator['mapping']) ? discriminator['mapping'] : {})) {
    const index = references.findIndex((one) => one === target || one?.endsWith(`/${String(target)}`) === true);
    if (index !== -1) byValue.set(value, index);
  }
  return (value) => {
    if (!isMap(value)) return undefined;
    const said = Object.hasOwn(value, name) ? value[name] : undefined;
    return typeof said === 'string' ? (byValue.get(said) ?? -1) : undefined;
  };
}

export const compileSchema = (schema: JsonSchema, options: CompileOptions): Check => new Compiler(options).part(schema);
