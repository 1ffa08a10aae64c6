// PHP → expressions, functions.
import { lit, name, noNames, type Expr, type Fn, type Param } from './ir.js';
import { child, childOf, inner, Lowering, unescaped } from './lower-kit.js';
import type { Node } from './tree.js';

const methods = /^(?:member_call_expression|nullsafe_member_call_expression)$/;

export abstract class PhpExpressions extends Lowering {
  expr(node: Node): Expr {
    const line = this.line(node);
    switch (node.type) {
      case 'variable_name':
        return name(this.text(node), line);
      case 'name':
        return this.named(this.text(node), line);
      case 'qualified_name':
        return this.named(this.text(node).replace(/^[^]*\\/, ''), line);
      case 'string':
        return lit(
          this.text(node)
            .slice(1, -1)
            .replaceAll(/\\(['\\])/g, '$1'),
          line,
        );
      case 'encapsed_string':
      case 'heredoc':
      case 'nowdoc':
        return this.template(node);
      case 'shell_command_expression': {
        const text = this.template(node);
        return this.call(node, name('shell_exec', line), [text]);
      }
      case 'integer':
      case 'float':
        return this.number(node);
      case 'boolean':
        return lit(/true/i.test(this.text(node)), line);
      case 'null':
        return lit(null, line);
      case 'function_call_expression':
      case 'object_creation_expression':
        return this.called(node);
      case 'scoped_call_expression': {
        const own = child(node, 'name');
        const of = this.need(node, 'scope');
        return this.call(
          node,
          { k: 'member', of, name: own === undefined ? '' : this.text(own), line },
          this.args(node),
        );
      }
      case 'member_access_expression':
      case 'nullsafe_member_access_expression':
      case 'class_constant_access_expression':
      case 'scoped_property_access_expression':
        return this.member(node);
      default:
        return methods.test(node.type) ? this.method(node) : this.expr2(node, line);
    }
  }

  protected named(text: string, line: number): Expr {
    if (/^(?:true|false)$/i.test(text)) return lit(/true/i.test(text), line);
    return /^null$/i.test(text) ? lit(null, line) : name(text, line);
  }

  protected expr2(node: Node, line: number): Expr {
    switch (node.type) {
      case 'parenthesized_expression':
      case 'argument':
      case 'by_ref':
      case 'error_suppression_expression':
      case 'print_intrinsic': {
        const of = inner(node).find(({ field }) => field !== 'name');
        const value = of === undefined ? this.nothing(node) : this.expr(of);
        return node.type === 'print_intrinsic' ? this.call(node, name('echo', line), [value]) : value;
      }
      case 'include_expression':
      case 'include_once_expression':
      case 'require_expression':
      case 'require_once_expression':
        return this.call(
          node,
          name('include', line),
          inner(node).map((one) => this.expr(one)),
        );
      case 'exit_statement':
        return this.call(
          node,
          name('exit', line),
          inner(node).map((one) => this.expr(one)),
        );
      case 'subscript_expression': {
        const [of, key] = inner(node);
        if (of === undefined) return this.nothing(node);
        return { k: 'index', of: this.expr(of), key: key === undefined ? null : this.expr(key), line };
      }
      case 'binary_expression':
        return this.bin(node, this.opOf(node).toLowerCase());
      case 'unary_op_expression': {
        const of = child(node, 'argument') ?? inner(node).at(-1);
        return {
          k: 'un',
          op: this.text(node).slice(0, 1),
          of: of === undefined ? this.nothing(node) : this.expr(of),
          line,
        };
      }
      case 'conditional_expression': {
        const test = this.need(node, 'condition');
        return { k: 'cond', test, yes: this.exprAt(node, 'body') ?? test, no: this.need(node, 'alternative'), line };
      }
      case 'assignment_expression':
      case 'reference_assignment_expression':
        return { k: 'set', to: this.need(node, 'left'), op: '=', value: this.need(node, 'right'), line };
      case 'augmented_assignment_expression':
        return { k: 'set', to: this.need(node, 'left'), op: this.opOf(node), value: this.need(node, 'right'), line };
      case 'update_expression':
        return { k: 'set', to: this.need(node, 'argument'), op: '+=', value: lit(1, line), line };
      default:
        return this.expr3(node, line);
    }
  }

  private expr3(node: Node, line: number): Expr {
    switch (node.type) {
      case 'cast_expression': {
        const type = child(node, 'type');
        return {
          k: 'cast',
          type: type === undefined ? '' : this.text(type).toLowerCase(),
          of: this.need(node, 'value'),
          line,
        };
      }
      case 'array_creation_expression':
      case 'list_literal':
        return this.array(node);
      case 'anonymous_function':
      case 'anonymous_function_creation_expression':
      case 'arrow_function':
        return { k: 'fn', fn: this.fn(node), line };
      default:
        return this.many(node);
    }
  }

  protected template(node: Node): Expr {
    const body = childOf(node, 'heredoc_body', 'nowdoc_body');
    const parts = inner(body ?? node)
      .filter(({ type }) => !/^heredoc_(?:start|end)$/.test(type))
      .map(
        (one): Expr =>
          /^(?:string_content|string_value|escape_sequence|nowdoc_string)$/.test(one.type)
            ? lit(unescaped(this.text(one)), this.line(one))
            : this.expr(one),
      );
    return { k: 'text', parts, line: this.line(node) };
  }

  protected args(node: Node): Expr[] {
    const list = child(node, 'arguments') ?? childOf(node, 'arguments');
    return list === undefined ? [] : inner(list).map((one) => this.expr(one));
  }

  protected called(node: Node): Expr {
    const line = this.line(node);
    if (node.type === 'object_creation_expression') {
      const of = inner(node).find(({ type }) => type.endsWith('name'));
      return this.call(node, of === undefined ? this.nothing(node) : this.expr(of), this.args(node), true);
    }
    const fn = this.need(node, 'function');
    const own = fn.k === 'name' ? name(fn.name.startsWith('$') ? fn.name : fn.name.toLowerCase(), line) : fn;
    return { k: 'call', fn: own, args: this.args(node), names: noNames, isNew: false, line };
  }

  protected method(node: Node): Expr {
    const own = child(node, 'name');
    const line = own === undefined ? this.line(node) : this.line(own);
    const fn: Expr = {
      k: 'member',
      of: this.need(node, 'object'),
      name: own === undefined ? '' : this.text(own),
      line,
    };
    return { k: 'call', fn, args: this.args(node), names: noNames, isNew: false, line };
  }

  protected member(node: Node): Expr {
    const line = this.line(node);
    if (node.type === 'class_constant_access_expression' || node.type === 'scoped_property_access_expression') {
      const [scope, own] = inner(node);
      if (scope === undefined || own === undefined) return this.nothing(node);
      return { k: 'member', of: this.expr(scope), name: this.text(own).replace(/^\$/, ''), line };
    }
    const own = child(node, 'name');
    return { k: 'member', of: this.need(node, 'object'), name: own === undefined ? '' : this.text(own), line };
  }

  protected array(node: Node): Expr {
    const line = this.line(node);
    const items = inner(node).map((one) => inner(one));
    if (node.type === 'list_literal') return { k: 'list', items: inner(node).map((one) => this.expr(one)), line };
    if (!items.some((one) => one.length > 1))
      return { k: 'list', items: inner(node).map((one) => this.many(one)), line };
    const entries = items.map((one): readonly [Expr | null, Expr] => {
      const [first, second] = one;
      if (first === undefined) return [null, this.nothing(node)];
      return second === undefined ? [null, this.expr(first)] : [this.expr(first), this.expr(second)];
    });
    return { k: 'dict', type: '', entries, line };
  }

  protected params(node: Node | undefined): Param[] {
    return (node === undefined ? [] : inner(node)).map((one): Param => {
      const own = child(one, 'name');
      const type = child(one, 'type');
      return {
        to: name(own === undefined ? '' : this.text(own).replace(/^&/, ''), this.line(one)),
        type: type === undefined ? '' : this.text(type).replace(/^[?\\]+|^[^]*\\/g, ''),
        marks: [],
        value: this.exprAt(one, 'default_value'),
      };
    });
  }

  protected fn(node: Node): Fn {
    const own = child(node, 'name');
    const body = child(node, 'body');
    const line = this.line(node);
    return {
      name:
        own === undefined ? '' : node.type === 'function_definition' ? this.text(own).toLowerCase() : this.text(own),
      params: this.params(child(node, 'parameters')),
      body:
        body === undefined
          ? []
          : body.type === 'compound_statement'
            ? this.block(body)
            : [{ k: 'return', value: this.expr(body), line }],
      marks: [],
      isExported: false,
      line,
    };
  }
}
