// A path in the tree of templates: which template it is of, and the values of its parameters.
import { isData, segmentKind } from '#proxy/contract';
import type { Parameter, TemplateNode } from './learn.js';

export interface TemplateMatch {
  /** Such as `/orders/{id}`. */
  readonly template: string;
  /** Where it ends. */
  readonly end: TemplateNode;
  readonly parameters: readonly { readonly parameter: Parameter; readonly value: string }[];
}

/** null: the tree knows no such path. Literals go before parameters, as in OpenAPI 3.1 section 4.8.8.2. */
export function matchTemplate(root: TemplateNode, segments: readonly string[]): TemplateMatch | null {
  return walk(root, segments, 0, '', []);
}

function walk(
  node: TemplateNode,
  segments: readonly string[],
  depth: number,
  template: string,
  parameters: TemplateMatch['parameters'],
): TemplateMatch | null {
  const segment = segments[depth];
  if (segment === undefined) {
    return node.isEnd ? { template: template === '' ? '/' : template, end: node, parameters } : null;
  }
  const literal = node.literals.get(segment);
  const found = literal === undefined ? null : walk(literal, segments, depth + 1, `${template}/${segment}`, parameters);
  if (found !== null || literal !== undefined) return found;
  const { parameter } = node;
  if (parameter === null) return null;
  const isShape = segment.startsWith('{');
  if (!parameter.takesWords && !isShape && !isData(segmentKind(segment))) return null;
  const next = [...parameters, { parameter, value: segment }];
  return walk(parameter.node, segments, depth + 1, `${template}/{${parameter.name}}`, next);
}

/** The path with the kinds of values in the place of parameters: what is kept when values are no longer told apart. */
export function foldedPath(root: TemplateNode, segments: readonly string[]): string | null {
  const folded: string[] = [];
  let node: TemplateNode | null = root;
  for (const segment of segments) {
    const literal: TemplateNode | undefined = node.literals.get(segment);
    if (literal !== undefined) {
      folded.push(segment);
      node = literal;
      continue;
    }
    if (node.parameter === null) return null;
    folded.push(segment.startsWith('{') ? segment : `{${segmentKind(segment)}}`);
    node = node.parameter.node;
  }
  return `/${folded.join('/')}`;
}
