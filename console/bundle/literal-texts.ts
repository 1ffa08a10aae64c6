// Finds words for people that are written in a page instead of in the catalogue (web/texts). What counts: text between
// tags, attributes and properties that are shown, notes, and strings that a conditional puts on the page.
import { parseAst } from 'vite';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface LiteralText {
  readonly line: number;
  readonly text: string;
}

/** Attributes and properties whose value is read by people. */
const shown = new Set(
  ('title label about placeholder aria-label help note action empty emptyAbout what unit text summary ' +
    'description alt fallback').split(' '),
);
/** Calls whose arguments are read by people. */
const calls = new Set(['tell', 'setProblem']);
/** Elements of code, not of a language. */
const codeElements = new Set(['code', 'pre', 'kbd']);
const hasWord = (text: string): boolean => /\p{L}{2}/u.test(text.replaceAll(/&\w+;/g, ''));
const isPhrase = (text: string): boolean => hasWord(text) && (/\s/.test(text.trim()) || /^\p{Lu}\p{Ll}/u.test(text));

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([name, value]) => {
    if (name === 'typeAnnotation' || name === 'typeArguments') return [];
    return Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
  });
}

const nameOf = (node: unknown): string =>
  isNode(node) ? String(node['name'] ?? (node['value'] as string | undefined) ?? '') : '';

/** The words of a string or template; null: it is neither. */
function wordsOf(node: Node): string | null {
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node.type !== 'TemplateLiteral') return null;
  return (node['quasis'] as readonly { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(' ');
}

/** What an expression may put on the page: itself, and what its conditions choose from. */
function outcomesOf(node: Node): Node[] {
  const inner = (...names: string[]): Node[] => names.flatMap((name) => outcomesOf(node[name] as Node));
  if (node.type === 'ConditionalExpression') return inner('consequent', 'alternate');
  if (node.type === 'LogicalExpression') return inner('left', 'right');
  if (node.type === 'BinaryExpression' && node['operator'] === '+') return inner('left', 'right');
  if (node.type === 'JSXExpressionContainer' || node.type === 'ParenthesizedExpression') return inner('expression');
  return [node];
}

/** Strings and templates that `node` itself shows. */
function shownBy(node: Node): Node[] {
  if (node.type === 'JSXText') return hasWord(String(node['value'])) ? [node] : [];
  const value = node['value'];
  if (node.type === 'JSXAttribute' && shown.has(nameOf(node['name'])) && isNode(value)) return outcomesOf(value);
  if (node.type === 'Property' && shown.has(nameOf(node['key'])) && isNode(value)) return outcomesOf(value);
  if (node.type === 'CallExpression' && calls.has(nameOf(node['callee'])))
    return (node['arguments'] as Node[]).flatMap(outcomesOf);
  if (node.type === 'JSXElement' || node.type === 'JSXFragment')
    return (node['children'] as Node[]).filter(({ type }) => type === 'JSXExpressionContainer').flatMap(outcomesOf);
  return [];
}

/** Nodes of `code` that hold words for people, in order; what is inside another of them is not named again. */
export function findLiteralNodes(code: string): Node[] {
  const found = new Map<number, Node>();
  const walk = (node: Node): void => {
    const tag = (node['openingElement'] as Node | undefined)?.['name'];
    if (codeElements.has(nameOf(tag))) return;
    for (const one of shownBy(node)) {
      const words = one.type === 'JSXText' ? String(one['value']) : wordsOf(one);
      const isPart = node.type === 'JSXElement' || node.type === 'JSXFragment';
      if (words !== null && (isPart ? isPhrase(words) : hasWord(words))) found.set(one.start, one);
    }
    for (const child of childrenOf(node)) walk(child);
  };
  walk(parseAst(code, { lang: 'tsx' }) as unknown as Node);
  return [...found.values()].sort((a, b) => a.start - b.start);
}

export function findLiteralTexts(code: string): LiteralText[] {
  return findLiteralNodes(code).map(({ start, end }) => ({
    line: code.slice(0, start).split('\n').length,
    text: code.slice(start, end).trim().replaceAll(/\s+/g, ' '),
  }));
}
