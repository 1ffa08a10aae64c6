// Trees of source text: the grammars' own programs (wasm), one parser a language, loaded with the first file of it.
// What comes out are plain objects; the parser's own tree is freed at once.
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { Language, Parser, type TreeCursor } from 'web-tree-sitter';

export const grammars = ['javascript', 'typescript', 'tsx', 'python', 'java', 'php', 'go'] as const;
export type Grammar = (typeof grammars)[number];

export interface Node {
  readonly type: string;
  readonly field: string;
  readonly from: number;
  readonly to: number;
  /** Named ones, and words and marks that have a field. */
  readonly kids: Node[];
}

export interface Tree {
  readonly root: Node;
  readonly text: string;
  /** Bytes in parts that the grammar does not know. */
  readonly unread: number;
  lineOf(node: Node): number;
}

/** It cannot be read, and the message says why: for people. */
export class UnreadableSource extends Error {}

const parseMsMax = 2000;
const depthMax = 1000;
const nodesMax = 1_500_000;

const require = createRequire(import.meta.url);
// written out: what a release carries is found by these names
const files: Readonly<Record<Grammar, () => string>> = {
  javascript: () => require.resolve('tree-sitter-javascript/tree-sitter-javascript.wasm'),
  typescript: () => require.resolve('tree-sitter-typescript/tree-sitter-typescript.wasm'),
  tsx: () => require.resolve('tree-sitter-typescript/tree-sitter-tsx.wasm'),
  python: () => require.resolve('tree-sitter-python/tree-sitter-python.wasm'),
  java: () => require.resolve('tree-sitter-java/tree-sitter-java.wasm'),
  php: () => require.resolve('tree-sitter-php/tree-sitter-php.wasm'),
  go: () => require.resolve('tree-sitter-go/tree-sitter-go.wasm'),
};

const parsers = new Map<Grammar, Promise<Parser>>();

async function load(grammar: Grammar): Promise<Parser> {
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(await readFile(files[grammar]())));
  return parser;
}

export async function parserOf(grammar: Grammar): Promise<Parser> {
  const known = parsers.get(grammar);
  if (known !== undefined) return known;
  const made = load(grammar);
  parsers.set(grammar, made);
  return made;
}

/** Words without a name in the grammar that mean something by themselves. */
const tellingWords: ReadonlySet<string> = new Set([
  'new',
  'static',
  'async',
  'export',
  'default',
  '...',
  '**',
  '*',
  '&',
]);

interface Kind {
  readonly type: string;
  readonly isKept: boolean;
}

const known = new Map<Grammar, Map<number, Kind>>();

function kindsOf(grammar: Grammar): Map<number, Kind> {
  const made = known.get(grammar) ?? new Map<number, Kind>();
  known.set(grammar, made);
  return made;
}

interface Open {
  readonly kids: Node[];
  readonly isBroken: boolean;
}

function copied(cursor: TreeCursor, kinds: Map<number, Kind>): { root: Node; unread: number } {
  let nodes = 0;
  let unread = 0;
  const take = (parent: Open): Open | null => {
    if (++nodes > nodesMax) throw new UnreadableSource(`source files with more than ${nodesMax} parts`);
    // each question to the cursor costs: what a number means is asked once
    const id = cursor.nodeTypeId;
    let kind = kinds.get(id);
    if (kind === undefined) {
      const word = cursor.nodeType;
      kind = { type: word, isKept: cursor.nodeIsNamed || tellingWords.has(word) };
      kinds.set(id, kind);
    }
    const field = cursor.currentFieldId === 0 ? '' : (cursor.currentFieldName ?? '');
    if (field === '' && !kind.isKept) return null;
    const { type } = kind;
    const [from, to] = [cursor.startIndex, cursor.endIndex];
    const isError = type === 'ERROR';
    if (isError && !parent.isBroken) unread += Math.max(1, to - from);
    const kids: Node[] = [];
    parent.kids.push({ type, field, from, to, kids });
    return { kids, isBroken: parent.isBroken || isError };
  };
  const top: Open = { kids: [], isBroken: false };
  const path: Open[] = [top];
  let current = take(top) ?? top;
  for (;;) {
    if (cursor.gotoFirstChild()) {
      if (path.length >= depthMax) throw new UnreadableSource(`source files nested deeper than ${depthMax}`);
      path.push(current);
    } else {
      while (!cursor.gotoNextSibling()) {
        if (path.length <= 1 || !cursor.gotoParent()) {
          const [root] = top.kids;
          if (root === undefined) throw new UnreadableSource('source files without a tree');
          return { root, unread };
        }
        path.pop();
      }
    }
    const parent = path[path.length - 1] ?? top;
    current = take(parent) ?? { kids: [], isBroken: true };
  }
}

/** Throws UnreadableSource beyond the limits. */
export async function readTree(grammar: Grammar, text: string): Promise<Tree> {
  const parser = await parserOf(grammar);
  const ends = performance.now() + parseMsMax;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > ends });
  if (tree === null) {
    parser.reset();
    throw new UnreadableSource(`source files that take longer than ${parseMsMax / 1000} s to parse`);
  }
  const cursor = tree.walk();
  try {
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    const lineOf = ({ from }: Node): number => {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle] ?? 0) <= from) low = middle;
        else high = middle - 1;
      }
      return low + 1;
    };
    return { ...copied(cursor, kindsOf(grammar)), text, lineOf };
  } finally {
    cursor.delete();
    tree.delete();
  }
}
