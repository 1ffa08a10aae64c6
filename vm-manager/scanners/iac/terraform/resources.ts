// Resources of a directory, as rules ask for them: values by path, blocks by name, and which of them belong together.
import { OpenAttributes } from './open.js';
import type { Attribute, Block, Expr } from './tree.js';
import { elementsOf, isObject, isUnknown, Scope, Unknown, type Value } from './values.js';

/** Known only when it is applied, or one of a list is. */
const isUnsettled = (value: Value | undefined): boolean =>
  Array.isArray(value)
    ? (value as readonly Value[]).some(isUnsettled)
    : isUnknown(value) && value.partly === '' && !isOfAnother(value.reference);

/** Set by another block: it is there, whatever it will be. */
const isOfAnother = (reference: string | null): boolean =>
  reference !== null && !/^(?:var|local|each|count)(?:\.|$)/.test(reference);

const unknown = new Unknown(null);
/** Blocks of a name in one resource that are looked at: `dynamic` repeats those that it repeats. */
const partsMax = 1000;

const asExpr = (value: Value): Expr => ({ kind: 'value', value });

/** Objects of a list, or one by itself, as blocks. */
function asBlocks(value: Value | undefined, type: string, line: number): Block[] {
  const all = Array.isArray(value) ? (value as readonly Value[]) : [value];
  return all.filter(isObject).map((one) => ({
    type,
    labels: [],
    line,
    endLine: line,
    attributes: new Map<string, Attribute>(
      Object.entries(one).map(([name, inner]) => [name, { value: asExpr(inner), line }]),
    ),
    blocks: [],
  }));
}

/** Asked for, and known only when it is applied; `path` is of the value. */
export type NoteUnknown = (path: string) => void;

/** A block with the names that its expressions may use. */
export class Part {
  readonly block: Block;
  protected readonly scope: Scope;
  readonly #note: NoteUnknown;

  constructor(block: Block, scope: Scope, note: NoteUnknown) {
    [this.block, this.scope, this.#note] = [block, scope, note];
  }

  get line(): number {
    return this.block.line;
  }

  /** All of a name, at the end of a path of blocks: `rule`, `a.b`. */
  parts(path: string): Part[] {
    let found: Part[] = [this];
    for (const name of path.split('.')) {
      found = found.flatMap((part) => part.#named(name));
      if (found.length <= partsMax) continue;
      this.#note(path);
      found = found.slice(0, partsMax);
    }
    return found;
  }

  /** Blocks of a name, `dynamic` ones, and objects that are written as an attribute: `ingress = [{ … }]`. */
  #named(name: string): Part[] {
    const make = (block: Block, scope = this.scope): Part =>
      new Part(block, scope, (path) => this.#note(`${name}.${path}`));
    const blocks = this.block.blocks.flatMap((one) => {
      if (one.type === name) return [make(one)];
      return one.type === 'dynamic' && one.labels[0] === name ? this.#repeated(one, name, make) : [];
    });
    const attribute = this.block.attributes.get(name);
    const objects = attribute === undefined ? [] : this.#written(name, attribute.line);
    return [...blocks, ...objects.map((block) => make(block))];
  }

  #written(name: string, line: number): Block[] {
    const value = this.value(name);
    // one of which nothing is known is there: what is missing in it is not missing
    return isUnknown(value) && value.partly === '' && !isOfAnother(value.reference)
      ? [{ type: name, labels: [], line, endLine: line, attributes: new OpenAttributes(new Map(), line), blocks: [] }]
      : asBlocks(value, name, line);
  }

  /** `dynamic "x" { for_each = …, content { … } }` is a block x for each; one where they are not known. */
  #repeated(dynamic: Block, name: string, make: (block: Block, scope: Scope) => Part): Part[] {
    const each = dynamic.attributes.get('for_each');
    const iterator = dynamic.attributes.get('iterator')?.value;
    const bound = iterator?.kind === 'reference' ? iterator.path : name;
    const elements = each === undefined ? null : elementsOf(this.scope.value(each.value));
    const scopes = (elements ?? [[unknown, unknown]]).map(([key, value]) =>
      this.scope.with({ [bound]: { key, value } }),
    );
    return dynamic.blocks
      .filter(({ type }) => type === 'content')
      .flatMap((content) => scopes.map((scope) => make({ ...content, type: name, line: dynamic.line }, scope)));
  }

  /** undefined: it is not there, or null. Through the first block of each name. */
  value(path: string): Value | undefined {
    const value = this.plainValue(path);
    if (isUnsettled(value)) this.#note(path);
    return value;
  }

  /** As `value`, without a note: for what a block belongs to. */
  protected plainValue(path: string): Value | undefined {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const part = names.length === 0 ? this : this.parts(names.join('.'))[0];
    const own = part?.block.attributes.get(last);
    if (part !== undefined && own !== undefined) return part.scope.value(own.value) ?? undefined;
    // maps that are written as attributes: `timeouts = { create = … }`
    const [name = '', ...keys] = path.split('.');
    const map = this.block.attributes.get(name);
    let value: Value | undefined = map === undefined || keys.length === 0 ? undefined : this.scope.value(map.value);
    for (const key of keys) value = isObject(value) ? value[key] : isUnknown(value) ? value : undefined;
    return value ?? undefined;
  }

  has(name: string): boolean {
    return this.block.attributes.has(name) || this.parts(name).length > 0;
  }

  /** Of what a path leads to, or of the nearest block around it. */
  lineOf(path: string): number {
    const [name = '', ...rest] = path.split('.');
    const [inner] = this.parts(name);
    if (inner !== undefined) return rest.length === 0 ? inner.line : inner.lineOf(rest.join('.'));
    return this.block.attributes.get(name)?.line ?? this.block.line;
  }
}

export class Resource extends Part {
  readonly type: string;
  readonly name: string;
  readonly address: string;
  /** As people are told of it. */
  readonly shown: string;
  readonly path: string;
  readonly module: Module;

  constructor(block: Block, scope: Scope, path: string, module: Module) {
    super(block, scope, () => module.unresolved.add(path));
    [this.type, this.name] = [block.labels[0] ?? '', block.labels[1] ?? ''];
    this.address = `${block.type === 'data' ? 'data.' : ''}${this.type}.${this.name}`;
    this.shown = block.shown ?? this.address;
    [this.path, this.module] = [path, module];
  }

  isNone(): boolean {
    return this.plainValue('count') === 0;
  }

  /** Whether the value at a path means that one: by reference, else by an equal literal in `key` of it. */
  means(path: string, other: Resource, key: string): boolean {
    const value = this.plainValue(path);
    if (isUnknown(value))
      return value.reference?.startsWith(`${other.address}.`) === true || value.reference === other.address;
    return typeof value === 'string' && value !== '' && value === other.plainValue(key);
  }

  /** Those of a type that mean this one. */
  joined(type: string, path: string, key: string): Resource[] {
    return this.module.of(type).filter((one) => one.means(path, this, key));
  }
}

export interface SourceBlocks {
  readonly path: string;
  readonly blocks: readonly Block[];
}

/** All files of one directory. */
export class Module {
  readonly scope: Scope;
  readonly resources: readonly Resource[];
  readonly data: readonly Resource[];

  /** Files in which a rule asked for a value that is known only when it is applied. */
  readonly unresolved = new Set<string>();

  constructor(files: readonly SourceBlocks[]) {
    this.scope = Scope.of(files.flatMap(({ blocks }) => blocks));
    const make = (type: string): Resource[] =>
      files
        .flatMap(({ path, blocks }) =>
          blocks
            .filter((one) => one.type === type)
            .flatMap((one) => this.#scopesOf(one).map((scope) => new Resource(one, scope, path, this))),
        )
        .filter((one) => !one.isNone());
    this.resources = make('resource');
    this.data = make('data');
  }

  /** `for_each` makes one of each element. */
  #scopesOf(block: Block): readonly Scope[] {
    const each = block.attributes.get('for_each');
    const value = each === undefined ? undefined : this.scope.value(each.value);
    const elements = elementsOf(value);
    if (elements === null || elements.length === 0) return [this.scope];
    return elements.map(([key, one]) =>
      // of a set the key is the element
      this.scope.with({ each: { key: Array.isArray(value) ? one : key, value: one } }),
    );
  }

  of(...types: readonly string[]): Resource[] {
    return this.resources.filter(({ type }) => types.includes(type));
  }
}
