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
  (
    'title label about placeholder aria-label help note action empty emptyAbout what unit text summary ' +
    'description alt fallback'
  ).split(' '),
);
/** Properties whose value may have words and is no text: styles, and words to search by. */
const unshown = new Set(['class', 'words']);
/** Values of settings that look like words. */
const values = new Set(['On', 'DetectionOnly']);
/** Routes, addresses, selectors, styles, shapes and zones of time have blanks or capitals, and are no texts. */
const technical = /^((GET|POST|PUT|PATCH|DELETE) \/|[-/.#([]|M\d|\dpx|Etc\/|meta\[)/;
const isTechnical = (text: string): boolean => technical.test(text) || values.has(text);
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

function nameOf(node: unknown): string {
  const name = isNode(node) ? (node['name'] ?? node['value']) : null;
  return typeof name === 'string' ? name : '';
}

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
  const isShown = node.type === 'Property' && shown.has(nameOf(node['key'])) && nameOf(node['key']) !== 'action';
  return isShown && isNode(value) ? outcomesOf(value) : [];
}

const isError = (node: Node): boolean => node.type === 'NewExpression' && nameOf(node['callee']) === 'Error';

/** Strings and templates that `node` hands on to where they may be shown: they count where they are phrases. */
function handedOnBy(node: Node): Node[] {
  const { children, elements, value } = node as { children?: unknown; elements?: unknown; value?: unknown };
  if (node.type === 'JSXElement' || node.type === 'JSXFragment')
    return (children as Node[]).filter(({ type }) => type === 'JSXExpressionContainer').flatMap(outcomesOf);
  if (node.type === 'ArrayExpression') return (elements as unknown[]).filter(isNode).flatMap(outcomesOf);
  if (node.type === 'Property' && !unshown.has(nameOf(node['key'])) && isNode(value)) return outcomesOf(value);
  if (node.type === 'ArrowFunctionExpression') return outcomesOf(node['body'] as Node);
  if (node.type === 'ReturnStatement' && isNode(node['argument'])) return outcomesOf(node['argument']);
  if ((node.type === 'CallExpression' || node.type === 'NewExpression') && !isError(node))
    return (node['arguments'] as Node[]).flatMap(outcomesOf);
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
      if (words !== null && hasWord(words) && !/^https?:\/\//.test(words)) found.set(one.start, one);
    }
    for (const one of handedOnBy(node)) {
      const words = wordsOf(one);
      if (words !== null && isPhrase(words) && !isTechnical(words)) found.set(one.start, one);
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
