// How much a GraphQL document asks for: depth, aliases and cost, with fragments counted wherever they are spread.
// Fragments are measured once each, so that the work is linear in the document however often they are spread.
import type { FieldNode, OperationDefinitionNode, SelectionSetNode } from 'graphql/language/ast.js';
import type { GraphqlDocument } from './document.js';

export interface Measures {
  /** Fields inside each other. */
  readonly depth: number;
  readonly aliases: number;
  /** Fields that are resolved at most: below a list of `first: 50` each counts fifty times. */
  readonly cost: number;
  readonly directives: number;
  /** `__schema` or `__type` is asked for; `__typename` is none of them. */
  readonly introspects: boolean;
}

const nothing: Measures = { depth: 0, aliases: 0, cost: 0, directives: 0, introspects: false };
/** A fragment that spreads itself has no end; no application runs it. */
const endless: Measures = {
  depth: Infinity,
  aliases: Infinity,
  cost: Infinity,
  directives: Infinity,
  introspects: false,
};

const countOf = (list: readonly unknown[] | undefined): number => list?.length ?? 0;

const pageNames: ReadonlySet<string> = new Set([
  'first',
  'last',
  'limit',
  'take',
  'pagesize',
  'perpage',
  'count',
  'size',
]);

class Measuring {
  private readonly fragments = new Map<string, Measures | 'open'>();

  constructor(
    private readonly document: GraphqlDocument,
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {}

  /** Of the gravest operation; fragments that nobody spreads count as well. */
  all(): Measures {
    const parts = [
      ...this.document.operations.map((operation) => this.ofOperation(operation)),
      ...[...this.document.fragments.keys()].map((name) => this.ofFragment(name)),
    ];
    return parts.reduce(worse, nothing);
  }

  private ofOperation({ selectionSet, directives, variableDefinitions = [] }: OperationDefinitionNode): Measures {
    const own = this.ofSet(selectionSet);
    const declared = variableDefinitions.reduce((sum, one) => sum + countOf(one.directives), 0);
    return { ...own, directives: own.directives + countOf(directives) + declared };
  }

  private ofSet(set: SelectionSetNode): Measures {
    let { depth, aliases, cost, directives, introspects } = nothing;
    for (const one of set.selections) {
      const part =
        one.kind === 'Field'
          ? this.ofField(one)
          : one.kind === 'FragmentSpread'
            ? this.ofFragment(one.name.value)
            : this.ofSet(one.selectionSet);
      depth = Math.max(depth, part.depth);
      aliases += part.aliases;
      cost += part.cost;
      directives += part.directives + countOf(one.directives);
      introspects ||= part.introspects;
    }
    return { depth, aliases, cost, directives, introspects };
  }

  private ofField(field: FieldNode): Measures {
    const inner = field.selectionSet === undefined ? nothing : this.ofSet(field.selectionSet);
    const name = field.name.value;
    return {
      depth: inner.depth + 1,
      aliases: inner.aliases + (field.alias === undefined ? 0 : 1),
      cost: 1 + inner.cost * this.pageOf(field),
      directives: inner.directives,
      introspects: inner.introspects || name === '__schema' || name === '__type',
    };
  }

  private ofFragment(name: string): Measures {
    const known = this.fragments.get(name);
    if (known === 'open') return endless;
    if (known !== undefined) return known;
    const fragment = this.document.fragments.get(name);
    if (fragment === undefined) return nothing;
    this.fragments.set(name, 'open');
    const own = this.ofSet(fragment.selectionSet);
    const measures = { ...own, directives: own.directives + countOf(fragment.directives) };
    this.fragments.set(name, measures);
    return measures;
  }

  private pageOf({ arguments: given = [] }: FieldNode): number {
    let page = 1;
    for (const { name, value } of given) {
      if (!pageNames.has(name.value.toLowerCase().replaceAll('_', ''))) continue;
      const said =
        value.kind === 'IntValue'
          ? Number(value.value)
          : value.kind === 'Variable'
            ? Number(this.variables[value.name.value] ?? 1)
            : 1;
      if (said > page) page = said;
    }
    return page;
  }
}

const worse = (one: Measures, other: Measures): Measures => ({
  depth: Math.max(one.depth, other.depth),
  aliases: Math.max(one.aliases, other.aliases),
  cost: Math.max(one.cost, other.cost),
  directives: Math.max(one.directives, other.directives),
  introspects: one.introspects || other.introspects,
});

/** `variables`: as they came; numbers of pages stand there. */
export const measure = (document: GraphqlDocument, variables: Readonly<Record<string, unknown>> = {}): Measures =>
  new Measuring(document, variables).all();

/** Selections of roots that are looked at; fragments may be spread again and again. */
const rootVisitsMax = 10_000;

/** How often one field of the root is asked for at most, in one operation, also by way of fragments. */
export function rootRepeats({ operations, fragments }: GraphqlDocument): number {
  let most = 0;
  let visits = 0;
  const count = (set: SelectionSetNode, counts: Map<string, number>, open: ReadonlySet<string>): void => {
    for (const one of set.selections) {
      if ((visits += 1) > rootVisitsMax) {
        most = Infinity;
        return;
      }
      if (one.kind === 'Field') {
        const times = (counts.get(one.name.value) ?? 0) + 1;
        counts.set(one.name.value, times);
        most = Math.max(most, times);
      } else if (one.kind === 'InlineFragment') count(one.selectionSet, counts, open);
      else {
        const { value } = one.name;
        const fragment = open.has(value) ? undefined : fragments.get(value);
        if (fragment !== undefined) count(fragment.selectionSet, counts, new Set([...open, value]));
      }
    }
  };
  for (const { selectionSet } of operations) count(selectionSet, new Map(), new Set());
  return most;
}

/** Lists and objects inside each other; counted up to `most` and one beyond. */
export function depthOf(value: unknown, most: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (most < 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, most - 1));
  return deepest + 1;
}
