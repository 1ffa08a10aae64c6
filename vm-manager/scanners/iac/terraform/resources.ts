// Resources of a directory, as rules ask for them: values by path, blocks by name, and which of them belong together.
import type { Block } from './tree.js';
import { isObject, isUnknown, Scope, type Value } from './values.js';

/** `dynamic "x" { content { … } }` is one more block x. */
function blocksNamed(block: Block, name: string): Block[] {
  return block.blocks.flatMap((one) => {
    if (one.type === name) return [one];
    if (one.type !== 'dynamic' || one.labels[0] !== name) return [];
    return one.blocks
      .filter(({ type }) => type === 'content')
      .map((content) => ({ ...content, type: name, line: one.line }));
  });
}

/** A block with the names that its expressions may use. */
export class Part {
  readonly block: Block;
  protected readonly scope: Scope;

  constructor(block: Block, scope: Scope) {
    [this.block, this.scope] = [block, scope];
  }

  get line(): number {
    return this.block.line;
  }

  /** All of a name, at the end of a path of blocks: `rule`, `a.b`. */
  parts(path: string): Part[] {
    let found: Part[] = [this];
    for (const name of path.split('.'))
      found = found.flatMap((part) => blocksNamed(part.block, name).map((block) => new Part(block, this.scope)));
    return found;
  }

  /** undefined: it is not there, or null. Through the first block of each name. */
  value(path: string): Value | undefined {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const part = names.length === 0 ? this : this.parts(names.join('.'))[0];
    const own = part?.block.attributes.get(last);
    if (own !== undefined) return this.scope.value(own.value) ?? undefined;
    // maps that are written as attributes: `timeouts = { create = … }`
    const [name = '', ...keys] = path.split('.');
    const map = this.block.attributes.get(name);
    let value: Value | undefined = map === undefined || keys.length === 0 ? undefined : this.scope.value(map.value);
    for (const key of keys) value = isObject(value) ? value[key] : isUnknown(value) ? value : undefined;
    return value ?? undefined;
  }

  has(name: string): boolean {
    return this.block.attributes.has(name) || blocksNamed(this.block, name).length > 0;
  }

  /** Of what a path leads to, or of the nearest block around it. */
  lineOf(path: string): number {
    const [name = '', ...rest] = path.split('.');
    const inner = blocksNamed(this.block, name)[0];
    if (inner !== undefined) return rest.length === 0 ? inner.line : new Part(inner, this.scope).lineOf(rest.join('.'));
    return this.block.attributes.get(name)?.line ?? this.block.line;
  }
}

export class Resource extends Part {
  readonly type: string;
  readonly name: string;
  readonly address: string;
  readonly path: string;
  readonly module: Module;

  constructor(block: Block, path: string, module: Module) {
    super(block, module.scope);
    [this.type, this.name] = [block.labels[0] ?? '', block.labels[1] ?? ''];
    this.address = `${block.type === 'data' ? 'data.' : ''}${this.type}.${this.name}`;
    [this.path, this.module] = [path, module];
  }

  /** Whether the value at a path means that one: by reference, else by an equal literal in `key` of it. */
  means(path: string, other: Resource, key: string): boolean {
    const value = this.value(path);
    if (isUnknown(value))
      return value.reference?.startsWith(`${other.address}.`) === true || value.reference === other.address;
    return typeof value === 'string' && value !== '' && value === other.value(key);
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

  constructor(files: readonly SourceBlocks[]) {
    this.scope = new Scope(files.flatMap(({ blocks }) => blocks));
    const make = (type: string): Resource[] =>
      files
        .flatMap(({ path, blocks }) =>
          blocks.filter((one) => one.type === type).map((one) => new Resource(one, path, this)),
        )
        .filter((one) => one.value('count') !== 0);
    this.resources = make('resource');
    this.data = make('data');
  }

  of(...types: readonly string[]): Resource[] {
    return this.resources.filter(({ type }) => types.includes(type));
  }
}
