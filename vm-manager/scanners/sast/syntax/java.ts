// Java → expressions and statements.
import { lit, name, type ClassOf, type Expr, type Fn, type Param, type Stmt } from './ir.js';
import { child, childOf, childrenOf, has, inner, Lowering, unescaped } from './lower-kit.js';
import type { Node } from './tree.js';

export class JavaLowering extends Lowering {
  expr(node: Node): Expr {
    const line = this.line(node);
    switch (node.type) {
      case 'identifier':
      case 'type_identifier':
      case 'this':
      case 'super':
        return name(this.text(node), line);
      case 'string_literal': {
        const text = this.text(node);
        return lit(unescaped(text.startsWith('"""') ? text.slice(3, -3) : text.slice(1, -1)), line);
      }
      case 'character_literal':
        return lit(unescaped(this.text(node).slice(1, -1)), line);
      case 'true':
      case 'false':
        return lit(node.type === 'true', line);
      case 'null_literal':
        return lit(null, line);
      case 'parenthesized_expression': {
        const [only] = inner(node);
        return only === undefined ? this.nothing(node) : this.expr(only);
      }
      case 'method_invocation':
        return this.invocation(node);
      case 'object_creation_expression':
        return this.creation(node);
      case 'field_access':
        return this.access(node);
      case 'scoped_type_identifier':
      case 'scoped_identifier':
        return this.dotted(this.text(node), line);
      case 'generic_type': {
        const [first] = inner(node);
        return first === undefined ? this.nothing(node) : this.expr(first);
      }
      default:
        return this.expr2(node, line);
    }
  }

  private expr2(node: Node, line: number): Expr {
    switch (node.type) {
      case 'binary_expression':
        return this.bin(node, this.opOf(node));
      case 'unary_expression':
        return { k: 'un', op: this.opOf(node), of: this.need(node, 'operand'), line };
      case 'update_expression': {
        const [of] = inner(node);
        const to = of === undefined ? this.nothing(node) : this.expr(of);
        return { k: 'set', to, op: '+=', value: lit(1, line), line };
      }
      case 'ternary_expression':
        return {
          k: 'cond',
          test: this.need(node, 'condition'),
          yes: this.need(node, 'consequence'),
          no: this.need(node, 'alternative'),
          line,
        };
      case 'assignment_expression':
        return { k: 'set', to: this.need(node, 'left'), op: this.opOf(node), value: this.need(node, 'right'), line };
      case 'cast_expression':
        return { k: 'cast', type: this.typeOf(child(node, 'type')), of: this.need(node, 'value'), line };
      case 'array_access':
        return { k: 'index', of: this.need(node, 'array'), key: this.exprAt(node, 'index'), line };
      case 'array_creation_expression': {
        const value = child(node, 'value');
        return value === undefined ? { k: 'list', items: [], line } : this.expr(value);
      }
      case 'array_initializer':
        return { k: 'list', items: inner(node).map((one) => this.expr(one)), line };
      case 'lambda_expression':
        return { k: 'fn', fn: this.lambda(node), line };
      case 'instanceof_expression':
        return { k: 'bin', op: 'instanceof', left: this.need(node, 'left'), right: lit('', line), line };
      case 'switch_expression':
        return this.many(node);
      case 'class_literal':
      case 'method_reference':
        return this.nothing(node);
      default:
        return node.type.endsWith('_literal') ? this.number(node) : this.many(node);
    }
  }

  private dotted(text: string, line: number): Expr {
    const [first = '', ...rest] = text.split('.').map((one) => one.trim());
    // a class by its whole name: its package says nothing more
    const at = /^[a-z]/.test(first) ? rest.findIndex((one) => /^[A-Z]/.test(one)) : -1;
    const parts = at === -1 ? [first, ...rest] : rest.slice(at);
    return parts
      .slice(1)
      .reduce((of: Expr, one): Expr => ({ k: 'member', of, name: one, line }), name(parts[0] ?? '', line));
  }

  private access(node: Node): Expr {
    const text = this.text(node);
    if (/^[\w.\s]+$/.test(text) && /^[a-z]\w*\./.test(text) && !text.startsWith('this.') && /\.[A-Z]/.test(text))
      return this.dotted(text, this.line(node));
    const field = child(node, 'field');
    return {
      k: 'member',
      of: this.need(node, 'object'),
      name: field === undefined ? '' : this.text(field),
      line: this.line(node),
    };
  }

  private args(node: Node): Expr[] {
    const list = child(node, 'arguments');
    return list === undefined ? [] : inner(list).map((one) => this.expr(one));
  }

  private invocation(node: Node): Expr {
    const called = child(node, 'name');
    const own = called === undefined ? '' : this.text(called);
    const object = child(node, 'object');
    const line = called === undefined ? this.line(node) : this.line(called);
    const of = object === undefined ? name('this', line) : this.expr(object);
    return this.call(node, { k: 'member', of, name: own, line }, this.args(node));
  }

  private creation(node: Node): Expr {
    const type = child(node, 'type');
    const body = childOf(node, 'class_body');
    const made = this.call(node, this.dotted(this.typeOf(type), this.line(node)), this.args(node), true);
    if (body === undefined) return made;
    const fns = this.classOf(node, body).methods.map((fn): Expr => ({ k: 'fn', fn, line: fn.line }));
    return { k: 'many', parts: [made, ...fns], line: made.line };
  }

  typeOf(node: Node | undefined): string {
    if (node === undefined) return '';
    const text = this.text(node)
      .replace(/<[^]*$/, '')
      .replace(/\s/g, '');
    return text.slice(text.lastIndexOf('.') + 1);
  }

  private lambda(node: Node): Fn {
    const given = child(node, 'parameters');
    const body = child(node, 'body');
    const names = given === undefined ? [] : given.type === 'identifier' ? [given] : inner(given);
    const params = names.map(
      (one): Param =>
        one.type === 'identifier' ? { to: this.expr(one), type: '', marks: [], value: null } : this.param(one),
    );
    const line = this.line(node);
    const stmts: readonly Stmt[] =
      body === undefined
        ? []
        : body.type === 'block'
          ? this.block(body)
          : [{ k: 'return', value: this.expr(body), line }];
    return { name: '', params, body: stmts, marks: [], isExported: false, line };
  }

  private marksOf(node: Node): Expr[] {
    const modifiers = childOf(node, 'modifiers');
    if (modifiers === undefined) return [];
    return inner(modifiers)
      .filter(({ type }) => type.endsWith('annotation'))
      .map((one) => {
        const own = child(one, 'name');
        return name(own === undefined ? '' : this.text(own), this.line(one));
      });
  }

  private param(node: Node): Param {
    const own = child(node, 'name') ?? childOf(node, 'variable_declarator');
    return {
      to: name(own === undefined ? '' : this.text(own), this.line(node)),
      type: this.typeOf(child(node, 'type')),
      marks: this.marksOf(node),
      value: null,
    };
  }

  private method(node: Node): Fn {
    const own = child(node, 'name');
    const given = child(node, 'parameters');
    return {
      name: node.type === 'constructor_declaration' ? 'constructor' : own === undefined ? '' : this.text(own),
      params: given === undefined ? [] : inner(given).map((one) => this.param(one)),
      body: this.block(child(node, 'body')),
      marks: this.marksOf(node),
      isExported: /\bpublic\b/.test(this.text(node).slice(0, 200)),
      line: this.line(node),
    };
  }

  private classOf(node: Node, body: Node): ClassOf {
    const own = child(node, 'name');
    const base = child(node, 'superclass');
    const members = inner(body);
    return {
      name: own === undefined ? '' : this.text(own),
      bases: base === undefined ? [] : [this.typeOf(inner(base)[0])],
      fields: members.flatMap((one) =>
        one.type === 'field_declaration'
          ? this.stmt(one)
          : one.type === 'static_initializer'
            ? this.block(inner(one)[0])
            : [],
      ),
      methods: members
        .filter(({ type }) => /^(?:method|constructor)_declaration$/.test(type))
        .map((one) => this.method(one)),
      marks: this.marksOf(node),
    };
  }

  stmt(node: Node): readonly Stmt[] {
    const line = this.line(node);
    switch (node.type) {
      case 'package_declaration':
      case 'import_declaration':
        return [];
      case 'class_declaration':
      case 'enum_declaration':
      case 'interface_declaration':
      case 'record_declaration': {
        const body = child(node, 'body');
        if (body === undefined) return [];
        const nested = inner(body).filter(({ type }) => /^(?:class|enum|interface|record)_declaration$/.test(type));
        return [...nested.flatMap((one) => this.stmt(one)), { k: 'class', of: this.classOf(node, body), line }];
      }
      case 'local_variable_declaration':
      case 'field_declaration':
        return this.variables(node);
      case 'expression_statement':
        return inner(node).flatMap((one) => this.exprStmt(one));
      case 'block':
      case 'constructor_body':
      case 'program':
      case 'synchronized_statement':
      case 'labeled_statement':
        return [{ k: 'block', body: this.block(node), line }];
      default:
        return this.stmt2(node, line);
    }
  }

  private stmt2(node: Node, line: number): readonly Stmt[] {
    switch (node.type) {
      case 'if_statement':
        return [
          {
            k: 'if',
            test: this.need(node, 'condition'),
            yes: this.body(child(node, 'consequence')),
            no: this.body(child(node, 'alternative')),
            line,
          },
        ];
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
        const first = childrenOf(node, 'init').flatMap((one) =>
          one.type === 'local_variable_declaration' ? this.stmt(one) : this.exprStmt(one),
        );
        const update = childrenOf(node, 'update').flatMap((one) => this.exprStmt(one));
        const body = [...this.body(child(node, 'body')), ...update];
        return [{ k: 'loop', first, test: this.exprAt(node, 'condition'), each: null, body, line }];
      }
      case 'enhanced_for_statement': {
        const type = this.typeOf(child(node, 'type'));
        const each = { key: null, to: this.need(node, 'name'), over: this.need(node, 'value'), type };
        return [{ k: 'loop', first: [], test: null, each, body: this.body(child(node, 'body')), line }];
      }
      case 'return_statement':
      case 'throw_statement': {
        const [value] = inner(node);
        const k = node.type === 'return_statement' ? 'return' : 'throw';
        return [{ k, value: value === undefined ? null : this.expr(value), line }];
      }
      case 'break_statement':
      case 'continue_statement':
        return [{ k: 'break', line }];
      case 'switch_expression':
      case 'switch_statement':
        return [this.switchOf(node)];
      case 'try_statement':
      case 'try_with_resources_statement':
        return [this.tryOf(node)];
      default:
        return node.type.endsWith('_declaration') ? [] : this.exprStmt(node);
    }
  }

  private variables(node: Node): readonly Stmt[] {
    const type = this.typeOf(child(node, 'type'));
    return childrenOf(node, 'declarator').map((one): Stmt => {
      const own = child(one, 'name');
      const to = name(own === undefined ? '' : this.text(own), this.line(one));
      return { k: 'var', to, type, value: this.exprAt(one, 'value'), line: this.line(one) };
    });
  }

  private switchOf(node: Node): Stmt {
    const body = child(node, 'body');
    const groups = body === undefined ? [] : inner(body);
    const cases = groups.map((group) => {
      const labels = group.kids.filter(({ type }) => type === 'switch_label');
      const tests = labels.flatMap((label) => inner(label).map((one) => this.expr(one)));
      const isDefault = labels.some((label) => has(label, 'default') || inner(label).length === 0);
      const rest = inner(group).filter(({ type }) => type !== 'switch_label');
      return { tests: isDefault ? [] : tests, body: rest.flatMap((one) => this.stmt(one)) };
    });
    const falls = !groups.some(({ type }) => type === 'switch_rule');
    return { k: 'switch', on: this.need(node, 'condition'), cases, falls, line: this.line(node) };
  }

  private tryOf(node: Node): Stmt {
    const resources = child(node, 'resources');
    const first = (resources === undefined ? [] : inner(resources)).map((one): Stmt => {
      const own = child(one, 'name');
      const to = name(own === undefined ? '' : this.text(own), this.line(one));
      return {
        k: 'var',
        to,
        type: this.typeOf(child(one, 'type')),
        value: this.exprAt(one, 'value'),
        line: this.line(one),
      };
    });
    const handlers = node.kids
      .filter(({ type }) => type === 'catch_clause')
      .map((one) => this.block(child(one, 'body')));
    const last = childOf(node, 'finally_clause');
    return {
      k: 'try',
      body: [...first, ...this.block(child(node, 'body'))],
      handlers,
      last: last === undefined ? [] : this.block(inner(last)[0]),
      line: this.line(node),
    };
  }
}
