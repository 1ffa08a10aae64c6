// A template as nodes with lines, whichever way it is written: JSON, YAML, or YAML with the short forms (`!Ref`).

/** What stands in a mapping under a name. */
export interface Field {
  readonly line: number;
  readonly node: Node;
}

export type Node =
  | { readonly kind: 'scalar'; readonly line: number; readonly value: string | number | boolean | null }
  | { readonly kind: 'map'; readonly line: number; readonly fields: ReadonlyMap<string, Field> }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly Node[] };

/** Nodes of one template: an alias is counted each time that it is used. */
export const nodesMax = 300_000;
export const depthMax = 100;

/** It cannot be read whole; `line` from 1. */
export class Unreadable extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export const fieldsOf = (node: Node | undefined): ReadonlyMap<string, Field> =>
  node?.kind === 'map' ? node.fields : new Map();

export const textIn = (node: Node | undefined): string =>
  node?.kind === 'scalar' && node.value !== null ? String(node.value) : '';
