// What Fastify makes of schemas, made when a route is first asked: of several hundred routes a process asks few, and to
// compile all of them at start cost 0.9 s of processor time, and their memory, in each process. That every schema
// compiles is a test's task (lazily.test.ts), not each start's.
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import fastJsonStringify from 'fast-json-stringify';

declare module 'fastify' {
  interface FastifyInstance {
    /** Of the control plane's server (instance.ts). */
    readonly schemas: LazySchemas;
  }
}

export interface LazyValidation {
  (data: unknown): boolean;
  /** Of the last call, as Ajv leaves it. */
  errors?: ErrorObject[] | null;
}

/**
 * What servers of one process have compiled, by the schema itself: schemas of routes are constants, and a second server
 * has them compiled already.
 */
export interface Compiled {
  readonly validators: WeakMap<object, WeakMap<Ajv, ValidateFunction>>;
  readonly serializers: WeakMap<object, (data: unknown) => string>;
}

export const nothingCompiled = (): Compiled => ({ validators: new WeakMap(), serializers: new WeakMap() });

/** What one server has to compile, sooner or later. */
export class LazySchemas {
  private readonly rest = new Set<() => unknown>();

  /**
   * `named`: the schemas that others refer to by their `$id`, asked when the first is compiled; of all that share
   * `compiled` the same ones.
   */
  constructor(
    private readonly named: () => Record<string, unknown>,
    private readonly compiled = nothingCompiled(),
  ) {}

  /** The check of one part of a request, compiled by `ajv` at the first call. */
  validator(ajv: Ajv, schema: object): LazyValidation {
    const { validators } = this.compiled;
    const compile = this.once((): ValidateFunction => {
      const ofSchema = validators.get(schema) ?? new WeakMap<Ajv, ValidateFunction>();
      validators.set(schema, ofSchema);
      const found = ofSchema.get(ajv) ?? ajv.compile(schema);
      ofSchema.set(ajv, found);
      return found;
    });
    const validate: LazyValidation = (data) => {
      const check = compile();
      const isValid = check(data);
      validate.errors = check.errors ?? null;
      return isValid;
    };
    return validate;
  }

  /** The writer of one route's answers of one status, compiled at the first answer. */
  serializer(schema: object): (data: unknown) => string {
    const { serializers } = this.compiled;
    const compile = this.once(() => {
      const found =
        serializers.get(schema) ??
        (fastJsonStringify(schema, { schema: this.named() as never }) as (data: unknown) => string);
      serializers.set(schema, found);
      return found;
    });
    return (data) => compile()(data);
  }

  /** Compiles what nobody has asked for yet; how many that were. Throws what the first wrong schema throws. */
  compileAll(): number {
    const count = this.rest.size;
    for (const compile of this.rest) compile();
    return count;
  }

  private once<T>(compile: () => T): () => T {
    const made: { value: T | null } = { value: null };
    const get = (): T => {
      if (made.value === null) {
        made.value = compile();
        this.rest.delete(get);
      }
      return made.value;
    };
    this.rest.add(get);
    return get;
  }
}
