// PHP → statements, classes.
import { name, type ClassOf, type Stmt } from './ir.js';
import { child, childOf, childrenOf, inner } from './lower-kit.js';
import type { Node } from './tree.js';

import { PhpExpressions } from './php-expressions.js';

export class PhpLowering extends PhpExpressions {
  private classOf(node: Node): ClassOf {
    const own = child(node, 'name');
    const body = child(node, 'body');
    const members = body === undefined ? [] : inner(body);
    const base = childOf(node, 'base_clause');
    const fields = members
      .filter(({ type }) => type === 'property_declaration')
      .flatMap((one) =>
        one.kids
          .filter(({ type }) => type === 'property_element')
          .map((part): Stmt => {
            const line = this.line(part);
            const called = child(part, 'name') ?? inner(part)[0];
            const value = child(part, 'default_value') ?? inner(part)[1];
            const to = name(called === undefined ? '' : this.text(called).replace(/^\$/, ''), line);
            return { k: 'var', to, type: '', value: value === undefined ? null : this.expr(value), line };
          }),
      );
    return {
      name: own === undefined ? '' : this.text(own),
      bases: base === undefined ? [] : inner(base).map((one) => this.text(one)),
      fields,
      methods: members.filter(({ type }) => type === 'method_declaration').map((one) => this.fn(one)),
      marks: [],
    };
  }

  stmt(node: Node): readonly Stmt[] {
    const line = this.line(node);
    switch (node.type) {
      case 'php_tag':
      case 'php_end_tag':
      case 'text_interpolation':
      case 'text': {
        const text =
          node.type === 'text'
            ? this.text(node)
            : node.kids
                .filter(({ type }) => type === 'text')
                .map((one) => this.text(one))
                .join('');
        return text === '' ? [] : [{ k: 'html', text, line }];
      }
      case 'echo_statement':
        return inner(node)
          .flatMap((one) => (one.type === 'sequence_expression' ? inner(one) : [one]))
          .map((one): Stmt => ({ k: 'expr', of: this.call(node, name('echo', line), [this.expr(one)]), line }));
      case 'expression_statement':
        return inner(node).flatMap((one) => this.exprStmt(one));
      case 'compound_statement':
      case 'colon_block':
      case 'else_clause':
      case 'program':
        return [{ k: 'block', body: this.block(node), line }];
      case 'function_definition':
        return [{ k: 'fn', fn: this.fn(node), line }];
      case 'class_declaration':
      case 'trait_declaration':
        return [{ k: 'class', of: this.classOf(node), line }];
      case 'if_statement':
        return [this.ifOf(node)];
      case 'namespace_definition':
        return this.block(child(node, 'body'));
      case 'namespace_use_declaration':
      case 'interface_declaration':
      case 'use_declaration':
      case 'const_declaration':
        return [];
      default:
        return this.stmt2(node, line);
    }
  }

  private ifOf(node: Node): Stmt {
    const others = childrenOf(node, 'alternative');
    let no: readonly Stmt[] = [];
    for (const one of [...others].reverse())
      no =
        one.type === 'else_if_clause'
          ? [
              {
                k: 'if',
                test: this.need(one, 'condition'),
                yes: this.body(child(one, 'body')),
                no,
                line: this.line(one),
              },
            ]
          : this.block(one);
    return {
      k: 'if',
      test: this.need(node, 'condition'),
      yes: this.body(child(node, 'body')),
      no,
      line: this.line(node),
    };
  }

  private stmt2(node: Node, line: number): readonly Stmt[] {
    switch (node.type) {
      case 'while_statement':
      case 'do_statement':
        return [
          {
            k: 'loop',
            first: [],
            test: this.exprAt(node, 'condition'),
            each: null,
            body: this.body(child(node, 'body')),
            line,
          },
        ];
      case 'for_statement': {
        const first = childrenOf(node, 'initialize').flatMap((one) => this.exprStmt(one));
        const update = childrenOf(node, 'update').flatMap((one) => this.exprStmt(one));
        const body = [...this.body(child(node, 'body')), ...update];
        return [{ k: 'loop', first, test: this.exprAt(node, 'condition'), each: null, body, line }];
      }
      case 'foreach_statement': {
        const [over, to] = inner(node).filter(({ field }) => field !== 'body');
        if (over === undefined || to === undefined) return [];
        const [key, value] = to.type === 'pair' ? inner(to) : [undefined, to];
        const each = {
          key: key === undefined ? null : this.expr(key),
          to: value === undefined ? this.nothing(to) : this.expr(value),
          over: this.expr(over),
          type: '',
        };
        return [{ k: 'loop', first: [], test: null, each, body: this.body(child(node, 'body')), line }];
      }
      case 'return_statement': {
        const [value] = inner(node);
        return [{ k: 'return', value: value === undefined ? null : this.expr(value), line }];
      }
      case 'throw_expression': {
        const [value] = inner(node);
        return [{ k: 'throw', value: value === undefined ? null : this.expr(value), line }];
      }
      case 'exit_statement':
        return this.exprStmt(node);
      case 'break_statement':
      case 'continue_statement':
        return [{ k: 'break', line }];
      case 'switch_statement':
        return [this.switchOf(node)];
      case 'try_statement': {
        const last = childOf(node, 'finally_clause');
        return [
          {
            k: 'try',
            body: this.block(child(node, 'body')),
            handlers: node.kids
              .filter(({ type }) => type === 'catch_clause')
              .map((one) => this.block(child(one, 'body'))),
            last: last === undefined ? [] : this.block(child(last, 'body')),
            line,
          },
        ];
      }
      case 'unset_statement':
        return [];
      default:
        return this.exprStmt(node);
    }
  }

  private switchOf(node: Node): Stmt {
    const body = child(node, 'body');
    const cases = (body === undefined ? [] : inner(body)).map((group) => {
      const value = child(group, 'value');
      const rest = inner(group).filter((one) => one !== value);
      return { tests: value === undefined ? [] : [this.expr(value)], body: rest.flatMap((one) => this.stmt(one)) };
    });
    return { k: 'switch', on: this.need(node, 'condition'), cases, falls: true, line: this.line(node) };
  }
}
