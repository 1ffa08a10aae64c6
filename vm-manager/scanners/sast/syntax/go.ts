// Go → expressions and statements.
import { lit, name, noNames, type Expr, type Fn, type Param, type Stmt } from './ir.js';
import { child, childOf, childrenOf, inner, Lowering, unescaped } from './lower-kit.js';
import type { Node } from './tree.js';

export class GoLowering extends Lowering {
  expr(node: Node): Expr {
    const line = this.line(node);
    switch (node.type) {
      case 'identifier':
      case 'type_identifier':
      case 'field_identifier':
      case 'package_identifier':
        return name(this.text(node), line);
      case 'interpreted_string_literal':
        return lit(unescaped(this.text(node).slice(1, -1)), line);
      case 'raw_string_literal':
      case 'rune_literal':
        return lit(this.text(node).slice(1, -1), line);
      case 'int_literal':
      case 'float_literal':
        return this.number(node);
      case 'true':
      case 'false':
        return lit(node.type === 'true', line);
      case 'nil':
        return lit(null, line);
      case 'selector_expression': {
        const own = child(node, 'field');
        return { k: 'member', of: this.need(node, 'operand'), name: own === undefined ? '' : this.text(own), line };
      }
      case 'qualified_type': {
        const own = child(node, 'name');
        return { k: 'member', of: this.need(node, 'package'), name: own === undefined ? '' : this.text(own), line };
      }
      case 'index_expression':
        return { k: 'index', of: this.need(node, 'operand'), key: this.exprAt(node, 'index'), line };
      case 'slice_expression':
        return this.need(node, 'operand');
      case 'call_expression':
        return this.called(node);
      case 'binary_expression':
        return this.bin(node, this.opOf(node));
      case 'unary_expression':
        return { k: 'un', op: this.opOf(node), of: this.need(node, 'operand'), line };
      default:
        return this.expr2(node, line);
    }
  }

  private expr2(node: Node, line: number): Expr {
    switch (node.type) {
      case 'parenthesized_expression':
      case 'variadic_argument':
      case 'literal_element': {
        const [of] = inner(node);
        return of === undefined ? this.nothing(node) : this.expr(of);
      }
      case 'expression_list': {
        const items = inner(node).map((one) => this.expr(one));
        const [only] = items;
        return items.length === 1 && only !== undefined ? only : { k: 'list', items, line };
      }
      case 'composite_literal':
        return this.composite(node);
      case 'literal_value':
        return this.literal(node, '');
      case 'func_literal':
        return { k: 'fn', fn: this.fn(node), line };
      case 'type_conversion_expression':
      case 'type_assertion_expression': {
        const type = child(node, 'type');
        const of = this.need(node, node.type === 'type_assertion_expression' ? 'operand' : 'operand');
        return { k: 'cast', type: type === undefined ? '' : this.text(type), of, line };
      }
      default:
        return this.many(node);
    }
  }

  private composite(node: Node): Expr {
    const type = child(node, 'type');
    const body = child(node, 'body');
    const text = type === undefined ? '' : this.text(type);
    return body === undefined ? this.nothing(node) : this.literal(body, /^[\w.]+$/.test(text) ? text : '');
  }

  private literal(body: Node, type: string): Expr {
    const line = this.line(body);
    const items = inner(body);
    if (type === '' && !items.some((one) => one.type === 'keyed_element'))
      return { k: 'list', items: items.map((one) => this.expr(one)), line };
    const entries = items.map((one): readonly [Expr | null, Expr] => {
      if (one.type !== 'keyed_element') return [null, this.expr(one)];
      const [key, value] = inner(one);
      const own = key === undefined ? undefined : (inner(key)[0] ?? key);
      const of = value === undefined ? this.nothing(one) : this.expr(value);
      if (own === undefined) return [null, of];
      return [own.type === 'identifier' ? lit(this.text(own), this.line(own)) : this.expr(own), of];
    });
    return { k: 'dict', type, entries, line };
  }

  private called(node: Node): Expr {
    const fn = this.need(node, 'function');
    const list = child(node, 'arguments');
    const args = list === undefined ? [] : inner(list).map((one) => this.expr(one));
    const [only] = args;
    const line = fn.k === 'member' ? fn.line : this.line(node);
    if (fn.k === 'name' && only !== undefined && /^(?:u?int\d*|float\d+|bool|string)$/.test(fn.name))
      return { k: 'cast', type: fn.name === 'string' ? '' : fn.name, of: only, line };
    return { k: 'call', fn, args, names: noNames, isNew: false, line };
  }

  private params(node: Node | undefined): Param[] {
    return (node === undefined ? [] : inner(node)).flatMap((one): Param[] => {
      const type = child(one, 'type');
      const text = type === undefined ? '' : this.text(type).replace(/^[*[\].]+/, '');
      const names = childrenOf(one, 'name');
      return names.map((own) => ({ to: name(this.text(own), this.line(own)), type: text, marks: [], value: null }));
    });
  }

  private fn(node: Node): Fn {
    const own = child(node, 'name');
    return {
      name: own === undefined ? '' : this.text(own),
      params: this.params(child(node, 'parameters')),
      body: this.block(child(node, 'body')),
      marks: [],
      isExported: false,
      line: this.line(node),
    };
  }

  stmt(node: Node): readonly Stmt[] {
    const line = this.line(node);
    switch (node.type) {
      case 'package_clause':
      case 'type_declaration':
      case 'empty_statement':
        return [];
      case 'import_declaration':
        return this.importOf(node);
      case 'function_declaration':
        return [{ k: 'fn', fn: this.fn(node), line }];
      case 'method_declaration': {
        const fn = this.fn(node);
        return [
          { k: 'fn', fn: { ...fn, name: '', params: [...fn.params, ...this.params(child(node, 'receiver'))] }, line },
        ];
      }
      case 'block':
      case 'statement_list':
      case 'source_file':
      case 'labeled_statement':
        return [{ k: 'block', body: this.block(node), line }];
      case 'expression_statement':
      case 'go_statement':
      case 'defer_statement':
        return inner(node).flatMap((one) => this.exprStmt(one));
      case 'short_var_declaration':
      case 'assignment_statement':
        return this.assignment(node);
      case 'var_declaration':
      case 'const_declaration':
        return inner(node)
          .flatMap((one) => (one.type.endsWith('spec_list') ? inner(one) : [one]))
          .flatMap((one) => this.spec(one));
      default:
        return this.stmt2(node, line);
    }
  }

  private stmt2(node: Node, line: number): readonly Stmt[] {
    switch (node.type) {
      case 'if_statement': {
        const first = child(node, 'initializer');
        const test: Stmt = {
          k: 'if',
          test: this.need(node, 'condition'),
          yes: this.body(child(node, 'consequence')),
          no: this.body(child(node, 'alternative')),
          line,
        };
        return first === undefined ? [test] : [...this.stmt(first), test];
      }
      case 'for_statement':
        return [this.loop(node)];
      case 'return_statement': {
        const [value] = inner(node);
        return [{ k: 'return', value: value === undefined ? null : this.expr(value), line }];
      }
      case 'break_statement':
      case 'continue_statement':
      case 'goto_statement':
        return [{ k: 'break', line }];
      case 'expression_switch_statement': {
        const first = child(node, 'initializer');
        const cases = node.kids
          .filter(({ type }) => /^(?:expression|default)_case$/.test(type))
          .map((one) => {
            const value = child(one, 'value');
            const tests = value === undefined ? [] : inner(value).map((of) => this.expr(of));
            return {
              tests,
              body: inner(one)
                .filter((of) => of !== value)
                .flatMap((of) => this.stmt(of)),
            };
          });
        const on = this.exprAt(node, 'value') ?? lit(true, line);
        const made: Stmt = { k: 'switch', on, cases, falls: false, line };
        return first === undefined ? [made] : [...this.stmt(first), made];
      }
      case 'type_switch_statement':
      case 'select_statement':
        return [
          { k: 'block', body: inner(node).flatMap((one) => (one.type.endsWith('_case') ? this.block(one) : [])), line },
        ];
      case 'inc_statement':
      case 'dec_statement':
      case 'send_statement':
        return [];
      default:
        return this.exprStmt(node);
    }
  }

  private loop(node: Node): Stmt {
    const line = this.line(node);
    const body = this.body(child(node, 'body'));
    const range = childOf(node, 'range_clause');
    if (range !== undefined) {
      const left = child(range, 'left');
      const [key, to] = left === undefined ? [] : inner(left);
      const each = {
        key: key === undefined ? null : this.expr(key),
        to: to === undefined ? name('', line) : this.expr(to),
        over: this.need(range, 'right'),
        type: '',
      };
      return { k: 'loop', first: [], test: null, each, body, line };
    }
    const clause = childOf(node, 'for_clause');
    const first = clause === undefined ? undefined : child(clause, 'initializer');
    const test = clause === undefined ? inner(node).find(({ field }) => field !== 'body') : child(clause, 'condition');
    return {
      k: 'loop',
      first: first === undefined ? [] : this.stmt(first),
      test: test === undefined ? null : this.expr(test),
      each: null,
      body,
      line,
    };
  }

  private assignment(node: Node): readonly Stmt[] {
    const line = this.line(node);
    const left = child(node, 'left');
    const right = child(node, 'right');
    if (left === undefined || right === undefined) return [];
    const [to, value] = [this.expr(left), this.expr(right)];
    const op = this.opOf(node) || '=';
    if (op !== '=' && op !== ':=') return [{ k: 'expr', of: { k: 'set', to, op, value, line }, line }];
    if (to.k === 'list') {
      // two values of one call: each may have what the call had
      const each = value.k === 'list' ? value.items : null;
      return to.items.map((one, index): Stmt => ({ k: 'var', to: one, type: '', value: each?.[index] ?? value, line }));
    }
    return [{ k: 'var', to, type: '', value, line }];
  }

  private spec(node: Node): readonly Stmt[] {
    const line = this.line(node);
    const type = child(node, 'type');
    const value = child(node, 'value');
    const values = value === undefined ? [] : inner(value);
    return childrenOf(node, 'name').map((own, index): Stmt => {
      const given = values[index] ?? values[0];
      return {
        k: 'var',
        to: name(this.text(own), line),
        type: type === undefined ? '' : this.text(type).replace(/^[*[\]]+/, ''),
        value: given === undefined ? null : this.expr(given),
        line,
      };
    });
  }

  private importOf(node: Node): readonly Stmt[] {
    const specs = inner(node).flatMap((one) => (one.type === 'import_spec_list' ? inner(one) : [one]));
    return specs.map((one): Stmt => {
      const path = child(one, 'path');
      const alias = child(one, 'name');
      const text = path === undefined ? '' : this.text(path).slice(1, -1);
      const own = alias === undefined ? text.replace(/\/v\d+$/, '').replace(/^.*\//, '') : this.text(alias);
      const line = this.line(one);
      // to import it is a use: what must not be used is told by its name
      return { k: 'import', names: new Map([[own, text.replace(/\/v\d+$/, '')]]), line };
    });
  }
}
