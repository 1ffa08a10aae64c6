// Each language: how its trees are lowered, and its table.
import { prepare, type Prepared } from './flow/prepared.js';
import type { Stmt } from './syntax/ir.js';
import { JavaLowering } from './syntax/java.js';
import { JavaScriptLowering } from './syntax/javascript.js';
import type { Lowering } from './syntax/lower-kit.js';
import { PhpLowering } from './syntax/php.js';
import { PythonLowering } from './syntax/python.js';
import type { Grammar, Tree } from './syntax/tree.js';
import { java } from './tables/java.js';
import { javascript } from './tables/javascript.js';
import { php } from './tables/php.js';
import { python } from './tables/python.js';
import type { Table } from './tables/table.js';

export interface Language {
  readonly table: Prepared;
  readonly lower: (tree: Tree) => readonly Stmt[];
}

const language = (table: Table, lowering: new (tree: Tree) => Lowering): Language => ({
  table: prepare(table),
  lower: (tree) => new lowering(tree).block(tree.root),
});

const script = language(javascript, JavaScriptLowering);

const languages: Partial<Record<Grammar, Language>> = {
  javascript: script,
  typescript: script,
  tsx: script,
  python: language(python, PythonLowering),
  php: language(php, PhpLowering),
  java: language(java, JavaLowering),
};

export function languageOf(grammar: Grammar): Language {
  const found = languages[grammar];
  if (found === undefined) throw new Error(`no language ${grammar}`);
  return found;
}
