// Terraform's language (HCL) as blocks and expressions of our own: the parser's tree lives in its memory and is freed
// at once. What the parser cannot read is an error: a rule that sees half of a file would find what is not there.
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { Language, Parser, type Node } from 'web-tree-sitter';
import type { Value } from './values.js';

export type Expr =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  /** `path` is without indices, as other blocks are named; `keys` has them, and `*` for each of a list. */
  | { readonly kind: 'reference'; readonly path: string; readonly keys: readonly (string | number)[] }
  | { readonly kind: 'template'; readonly parts: readonly Expr[] }
  | { readonly kind: 'list'; readonly items: readonly Expr[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: Expr, value: Expr])[] }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expr[] }
  | { readonly kind: 'condition'; readonly test: Expr; readonly yes: Expr; readonly no: Expr }
  /** `[for name, value in over : result if test]`; with `key` it makes an object. */
  | {
      readonly kind: 'for';
      readonly names: readonly string[];
      readonly over: Expr;
      readonly key: Expr | null;
      readonly result: Expr;
      readonly test: Expr | null;
    }
  /** Worked out before. */
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'unknown' };

export interface Attribute {
  readonly value: Expr;
  readonly line: number;
}
export interface Block {
  readonly type: string;
  readonly labels: readonly string[];
  readonly line: number;
  readonly endLine: number;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly blocks: readonly Block[];
  /** How people are told of it, where it was written in another language: `AWS::S3::Bucket.Logs`. */
  readonly shown?: string;
}

const depthMax = 200;
const unknown: Expr = { kind: 'unknown' };

/** Escapes of a quoted text (HCL native syntax, 2.4). */
const unescaped = (text: string): string =>
  text
    .replaceAll(/\\(n|r|t|"|\\|u[0-9a-fA-F]{4})/g, (_, mark: string) =>
      mark.startsWith('u')
        ? String.fromCharCode(Number.parseInt(mark.slice(1), 16))
        : ({ n: '\n', r: '\r', t: '\t' }[mark] ?? mark),
    )
    .replaceAll('$${', '${');

const named = (node: Node): Node[] => node.namedChildren.filter((one): one is Node => one !== null);

function templateOf(node: Node, isQuoted: boolean, depth: number): Expr {
  const parts = named(node).flatMap((one): Expr[] => {
    if (one.type === 'template_literal') return [{ kind: 'literal', value: isQuoted ? unescaped(one.text) : one.text }];
    if (one.type === 'template_interpolation') {
      const inner = named(one).find(({ type }) => type === 'expression');
      return [inner === undefined ? unknown : exprOf(inner, depth + 1)];
    }
    return one.type === 'template_directive' ? [unknown] : [];
  });
  if (parts.length === 0) return { kind: 'literal', value: '' };
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'template', parts };
}

/** What follows a name: `.a`, `[0]`, `["a"]`, `[*].a`; null: it depends on what is not known. */
function keysOf(node: Node): (string | number)[] | null {
  const inner = named(node).filter(({ type }) => type !== 'comment');
  if (node.type === 'variable_expr') return [node.text];
  if (node.type === 'get_attr') return [node.text.replace(/^\s*\.\s*/, '')];
  if (node.type === 'index') {
    const value = inner[0] === undefined ? unknown : indexOf(inner[0]);
    return value.kind === 'literal' && (typeof value.value === 'string' || typeof value.value === 'number')
      ? [value.value]
      : null;
  }
  if (node.type === 'splat' || node.type === 'full_splat' || node.type === 'attr_splat') {
    const rest = inner.map(keysOf);
    const isOuter = node.type === 'splat';
    return rest.includes(null) ? null : [...(isOuter ? [] : ['*']), ...rest.flatMap((keys) => keys ?? [])];
  }
  return null;
}

/** `[0]`, `["a"]`, and `.0` as old files write it. */
function indexOf(node: Node): Expr {
  const [inner] = named(node);
  if (inner !== undefined) return exprOf(inner.type === 'expression' ? inner : node);
  const number = Number(node.text.replace(/^\s*\.\s*/, ''));
  return Number.isInteger(number) ? { kind: 'literal', value: number } : unknown;
}

function referenceOf(children: readonly Node[]): Expr {
  const isKnown = ({ type }: Node): boolean => ['variable_expr', 'get_attr', 'index', 'splat'].includes(type);
  if (!children.every(isKnown)) return unknown;
  const path = children.flatMap((one) => (one.type === 'variable_expr' || one.type === 'get_attr' ? keysOf(one) : []));
  // an index that is not known may be any: then it is what it was put together from
  const keys = children.flatMap((one) => keysOf(one) ?? ['?']);
  return { kind: 'reference', path: path.join('.'), keys };
}

function forOf(node: Node, depth: number): Expr {
  const [loop] = named(node);
  const parts = loop === undefined ? [] : named(loop);
  const intro = parts.find(({ type }) => type === 'for_intro');
  const test = parts.find(({ type }) => type === 'for_cond');
  const results = parts.filter(({ type }) => type === 'expression').map((one) => exprOf(one, depth + 1));
  const inIntro = intro === undefined ? [] : named(intro);
  const over = inIntro.find(({ type }) => type === 'expression');
  const condition = test === undefined ? undefined : named(test).find(({ type }) => type === 'expression');
  const isObject = loop?.type === 'for_object_expr';
  const [first, second] = results;
  const result = isObject ? second : first;
  if (over === undefined || result === undefined || parts.some(({ type }) => type === 'ellipsis')) return unknown;
  return {
    kind: 'for',
    names: inIntro.filter(({ type }) => type === 'identifier').map(({ text }) => text),
    over: exprOf(over, depth + 1),
    key: isObject ? (first ?? null) : null,
    result,
    test: condition === undefined ? null : exprOf(condition, depth + 1),
  };
}

function literalOf(node: Node, depth: number): Expr {
  const [one] = named(node);
  if (one === undefined) return unknown;
  if (one.type === 'string_lit') return templateOf(one, true, depth);
  if (one.type === 'numeric_lit') return { kind: 'literal', value: Number(one.text) };
  if (one.type === 'bool_lit') return { kind: 'literal', value: one.text === 'true' };
  return one.type === 'null_lit' ? { kind: 'literal', value: null } : unknown;
}

function collectionOf(node: Node, depth: number): Expr {
  const [one] = named(node);
  if (one?.type === 'tuple')
    return {
      kind: 'list',
      items: named(one)
        .filter(({ type }) => type === 'expression')
        .map((item) => exprOf(item, depth + 1)),
    };
  if (one?.type !== 'object') return unknown;
  const entries = named(one)
    .filter(({ type }) => type === 'object_elem')
    .map((element) => {
      const [key, value] = named(element);
      // a bare word is a text, and no reference
      const keyOf = (given: Node): Expr =>
        /^[\w-]+$/.test(given.text) ? { kind: 'literal', value: given.text } : exprOf(given, depth + 1);
      return [
        key === undefined ? unknown : keyOf(key),
        value === undefined ? unknown : exprOf(value, depth + 1),
      ] as const;
    });
  return { kind: 'object', entries };
}

function exprOf(node: Node, depth = 0): Expr {
  if (depth > depthMax) return unknown;
  const children = named(node).filter(({ type }) => type !== 'comment');
  const [first] = children;
  if (first === undefined) return unknown;
  if (first.type === 'variable_expr') return referenceOf(children);
  if (children.length > 1) return unknown;
  switch (first.type) {
    case 'literal_value':
      return literalOf(first, depth);
    case 'collection_value':
      return collectionOf(first, depth);
    case 'template_expr': {
      const [inner] = named(first);
      return inner === undefined ? unknown : templateOf(inner, inner.type === 'quoted_template', depth);
    }
    case 'function_call': {
      const args = named(first).find(({ type }) => type === 'function_arguments');
      const given = args === undefined ? [] : named(args).filter(({ type }) => type === 'expression');
      return { kind: 'call', name: named(first)[0]?.text ?? '', args: given.map((one) => exprOf(one, depth + 1)) };
    }
    case 'conditional': {
      const [test, yes, no] = named(first).map((one) => exprOf(one, depth + 1));
      return { kind: 'condition', test: test ?? unknown, yes: yes ?? unknown, no: no ?? unknown };
    }
    case 'operation':
      return /^-\s*[\d.]+$/.test(first.text)
        ? { kind: 'literal', value: Number(first.text.replaceAll(/\s/g, '')) }
        : unknown;
    case 'for_expr':
      return forOf(first, depth);
    case 'expression':
      return exprOf(first, depth + 1);
    default:
      return unknown;
  }
}

function blockOf(node: Node, depth: number): Block {
  if (depth > depthMax) throw new Error('is nested too deeply');
  const [type, ...rest] = named(node);
  const labels = rest
    .filter((one) => one.type === 'string_lit' || one.type === 'identifier')
    .map((one) => one.text.replace(/^"(.*)"$/, '$1'));
  const body = rest.find((one) => one.type === 'body');
  return {
    type: type?.text ?? '',
    labels,
    line: node.startPosition.row + 1,
    endLine: node.endPosition.row + 1,
    ...bodyOf(body, depth),
  };
}

function bodyOf(body: Node | undefined, depth: number): Pick<Block, 'attributes' | 'blocks'> {
  const attributes = new Map<string, Attribute>();
  const blocks: Block[] = [];
  for (const one of body === undefined ? [] : named(body)) {
    if (one.type === 'block') blocks.push(blockOf(one, depth + 1));
    if (one.type !== 'attribute') continue;
    const [name, value] = named(one);
    if (name === undefined || value === undefined) continue;
    attributes.set(name.text, { value: exprOf(value), line: one.startPosition.row + 1 });
  }
  return { attributes, blocks };
}

let loading: Promise<Parser> | null = null;

/** The parser, with its grammar, from the packages that are installed. */
export async function loadParser(): Promise<Parser> {
  loading ??= (async () => {
    const require = createRequire(import.meta.url);
    const runtime = require.resolve('web-tree-sitter/web-tree-sitter.wasm');
    await Parser.init({ locateFile: () => runtime });
    const grammar = require.resolve('@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-terraform.wasm');
    const parser = new Parser();
    parser.setLanguage(await Language.load(await readFile(grammar)));
    return parser;
  })();
  return loading;
}

/** The blocks of a file. Throws an Error with the line for what is no HCL. */
export function readBlocks(parser: Parser, text: string): readonly Block[] {
  const tree = parser.parse(text);
  if (tree === null) throw new Error('cannot be parsed');
  try {
    if (tree.rootNode.hasError) {
      const at = firstError(tree.rootNode);
      throw new Error(`is no HCL in line ${at.startPosition.row + 1}`);
    }
    const body = named(tree.rootNode).find(({ type }) => type === 'body');
    return body === undefined
      ? []
      : named(body)
          .filter(({ type }) => type === 'block')
          .map((one) => blockOf(one, 0));
  } finally {
    tree.delete();
  }
}

function firstError(node: Node): Node {
  for (let at = node; ; ) {
    const next = at.children.find((one): one is Node => one !== null && (one.hasError || one.isError || one.isMissing));
    if (next === undefined || at.isError) return at;
    at = next;
  }
}
