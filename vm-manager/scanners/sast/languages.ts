// Each language: how its trees are lowered, and its table.
import { prepare, type Prepared } from './flow/prepared.js';
import type { Stmt } from './syntax/ir.js';
import { GoLowering } from './syntax/go.js';
import { JavaLowering } from './syntax/java.js';
import { JavaScriptLowering } from './syntax/javascript.js';
import type { Lowering } from './syntax/lower-kit.js';
import { PhpLowering } from './syntax/php.js';
import { PythonLowering } from './syntax/python.js';
import type { Grammar, Tree } from './syntax/tree.js';
import { go } from './tables/go.js';
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

const languages: Readonly<Record<Grammar, Language>> = {
  javascript: script,
  typescript: script,
  tsx: script,
  python: language(python, PythonLowering),
  go: language(go, GoLowering),
  php: language(php, PhpLowering),
  java: language(java, JavaLowering),
};

export const languageOf = (grammar: Grammar): Language => languages[grammar];
