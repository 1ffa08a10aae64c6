// How much a GraphQL document asks for: depth, aliases and cost, with fragments counted wherever they are spread.
// Fragments are measured once each, so that the work is linear in the document however often they are spread.
import type { FieldNode, SelectionSetNode } from 'graphql/language/ast.js';
import type { GraphqlDocument } from './document.js';

export interface Measures {
  /** Fields inside each other. */
  readonly depth: number;
  readonly aliases: number;
  /** Fields that are resolved at most: below a list of `first: 50` each counts fifty times. */
  readonly cost: number;
  /** `__schema` or `__type` is asked for; `__typename` is none of them. */
  readonly introspects: boolean;
}

const nothing: Measures = { depth: 0, aliases: 0, cost: 0, introspects: false };
/** A fragment that spreads itself has no end; no application runs it. */
const endless: Measures = { depth: Infinity, aliases: Infinity, cost: Infinity, introspects: false };

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
      ...this.document.operations.map(({ selectionSet }) => this.ofSet(selectionSet)),
      ...[...this.document.fragments.keys()].map((name) => this.ofFragment(name)),
    ];
    return parts.reduce(worse, nothing);
  }

  private ofSet(set: SelectionSetNode): Measures {
    let { depth, aliases, cost, introspects } = nothing;
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
      introspects ||= part.introspects;
    }
    return { depth, aliases, cost, introspects };
  }

  private ofField(field: FieldNode): Measures {
    const inner = field.selectionSet === undefined ? nothing : this.ofSet(field.selectionSet);
    const name = field.name.value;
    return {
      depth: inner.depth + 1,
      aliases: inner.aliases + (field.alias === undefined ? 0 : 1),
      cost: 1 + inner.cost * this.pageOf(field),
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
    const measures = this.ofSet(fragment.selectionSet);
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
  introspects: one.introspects || other.introspects,
});

/** `variables`: as they came; numbers of pages stand there. */
export const measure = (document: GraphqlDocument, variables: Readonly<Record<string, unknown>> = {}): Measures =>
  new Measuring(document, variables).all();
