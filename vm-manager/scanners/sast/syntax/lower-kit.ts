// What the lowerings of all languages have in common.
import { lit, noNames, type Call, type Expr, type Stmt } from './ir.js';
import type { Node, Tree } from './tree.js';

export abstract class Lowering {
  protected readonly tree: Tree;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  text(node: Node): string {
    return this.tree.text.slice(node.from, node.to);
  }

  line(node: Node): number {
    return this.tree.lineOf(node);
  }

  abstract expr(node: Node): Expr;
  abstract stmt(node: Node): readonly Stmt[];

  /** Of an optional child. */
  exprAt(node: Node, field: string): Expr | null {
    const found = child(node, field);
    return found === undefined ? null : this.expr(found);
  }

  need(node: Node, field: string): Expr {
    return this.exprAt(node, field) ?? this.nothing(node);
  }

  nothing(node: Node): Expr {
    return { k: 'many', parts: [], line: this.line(node) };
  }

  many(node: Node): Expr {
    return { k: 'many', parts: inner(node).map((one) => this.expr(one)), line: this.line(node) };
  }

  block(node: Node | undefined): readonly Stmt[] {
    return node === undefined ? [] : inner(node).flatMap((one) => this.stmt(one));
  }

  /** A statement or a block of them. */
  body(node: Node | undefined): readonly Stmt[] {
    return node === undefined ? [] : this.stmt(node);
  }

  exprStmt(node: Node): readonly Stmt[] {
    return [{ k: 'expr', of: this.expr(node), line: this.line(node) }];
  }

  call(node: Node, fn: Expr, args: readonly Expr[], isNew = false): Call {
    return { k: 'call', fn, args, names: noNames, isNew, line: this.line(node) };
  }

  bin(node: Node, op: string): Expr {
    return {
      k: 'bin',
      op: op === 'and' ? '&&' : op === 'or' ? '||' : op,
      left: this.need(node, 'left'),
      right: this.need(node, 'right'),
      line: this.line(node),
    };
  }

  opOf(node: Node): string {
    const found = child(node, 'operator');
    return found === undefined ? '' : this.text(found);
  }

  number(node: Node): Expr {
    const text = this.text(node)
      .replaceAll('_', '')
      .replace(/[lLfFdDnN]$/, '');
    const value = Number(/^0[0-7]+$/.test(text) ? `0o${text.slice(1)}` : text);
    return lit(Number.isNaN(value) ? null : value, this.line(node));
  }
}

const noise: ReadonlySet<string> = new Set(['comment', 'line_comment', 'block_comment', 'ERROR', 'html_comment']);

export const child = (node: Node, field: string): Node | undefined => node.kids.find((one) => one.field === field);
export const childOf = (node: Node, ...types: string[]): Node | undefined =>
  node.kids.find((one) => types.includes(one.type));
export const childrenOf = (node: Node, field: string): Node[] => node.kids.filter((one) => one.field === field);
/** Without comments and words. */
export const inner = (node: Node): Node[] =>
  node.kids.filter(({ type }) => !noise.has(type) && /^[a-z_]{2}/i.test(type));
export const has = (node: Node, word: string): boolean => node.kids.some(({ type }) => type === word);

/** What a text means in the usual escapes. */
export const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replaceAll(/\\(n|r|t|0|\\|'|"|`|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})/g, (_, mark: string) =>
        /^[ux]/.test(mark)
          ? String.fromCharCode(Number.parseInt(mark.slice(1), 16))
          : ({ n: '\n', r: '\r', t: '\t', '0': '\0' }[mark] ?? mark),
      )
    : text;
