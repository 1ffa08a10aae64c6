// JavaScript and TypeScript → expressions, functions.
import { lit, name, noNames, type Expr, type Fn, type Param } from './ir.js';
import { words } from '../tables/table.js';
import { child, childOf, inner, Lowering, unescaped } from './lower-kit.js';
import type { Node } from './tree.js';

const functions = words(
  'function_expression function arrow_function generator_function ' +
    'generator_function_declaration function_declaration method_definition',
);
const types = words(
  'type_annotation type_arguments type_parameters predefined_type type_identifier ' +
    'accessibility_modifier override_modifier',
);

export abstract class JavaScriptExpressions extends Lowering {
  expr(node: Node): Expr {
    const line = this.line(node);
    switch (node.type) {
      case 'identifier':
      case 'this':
      case 'super':
      case 'property_identifier':
      case 'shorthand_property_identifier':
      case 'shorthand_property_identifier_pattern':
      case 'private_property_identifier':
        return name(this.text(node), line);
      case 'string':
        return lit(unescaped(this.text(node).slice(1, -1)), line);
      case 'template_string':
        return this.template(node);
      case 'number':
        return this.number(node);
      case 'true':
      case 'false':
        return lit(node.type === 'true', line);
      case 'null':
      case 'undefined':
        return lit(null, line);
      case 'regex': {
        const pattern = child(node, 'pattern');
        return lit(pattern === undefined ? '' : this.text(pattern), line);
      }
      case 'call_expression':
      case 'new_expression':
        return this.called(node);
      case 'member_expression':
        return this.member(node);
      case 'subscript_expression':
        return { k: 'index', of: this.need(node, 'object'), key: this.exprAt(node, 'index'), line };
      case 'object':
      case 'object_pattern':
        return this.object(node);
      case 'array':
      case 'array_pattern':
        return { k: 'list', items: inner(node).map((one) => this.expr(one)), line };
      default:
        return functions.test(node.type) ? { k: 'fn', fn: this.fn(node), line } : this.expr2(node, line);
    }
  }

  protected expr2(node: Node, line: number): Expr {
    switch (node.type) {
      case 'parenthesized_expression':
      case 'non_null_expression':
      case 'satisfies_expression':
      case 'as_expression':
      case 'type_assertion':
      case 'jsx_expression': {
        const only = inner(node).find(({ type }) => !types.test(type));
        return only === undefined ? this.nothing(node) : this.expr(only);
      }
      case 'binary_expression':
        return this.bin(node, this.opOf(node));
      case 'unary_expression':
        return { k: 'un', op: this.opOf(node), of: this.need(node, 'argument'), line };
      case 'await_expression':
      case 'spread_element':
      case 'rest_pattern': {
        const [of] = inner(node);
        const op = node.type === 'await_expression' ? 'await' : '...';
        return { k: 'un', op, of: of === undefined ? this.nothing(node) : this.expr(of), line };
      }
      case 'update_expression':
        return { k: 'set', to: this.need(node, 'argument'), op: '+=', value: lit(1, line), line };
      case 'ternary_expression':
        return {
          k: 'cond',
          test: this.need(node, 'condition'),
          yes: this.need(node, 'consequence'),
          no: this.need(node, 'alternative'),
          line,
        };
      case 'assignment_expression':
        return { k: 'set', to: this.need(node, 'left'), op: '=', value: this.need(node, 'right'), line };
      case 'augmented_assignment_expression':
        return { k: 'set', to: this.need(node, 'left'), op: this.opOf(node), value: this.need(node, 'right'), line };
      case 'assignment_pattern':
      case 'object_assignment_pattern':
        return { k: 'set', to: this.need(node, 'left'), op: '=', value: this.need(node, 'right'), line };
      case 'jsx_attribute':
        return this.attribute(node);
      case 'class':
        return this.many(node);
      default:
        return types.test(node.type) ? this.nothing(node) : this.many(node);
    }
  }

  protected attribute(node: Node): Expr {
    const [key, value] = inner(node);
    const line = this.line(node);
    if (key === undefined || value === undefined) return this.nothing(node);
    return { k: 'dict', type: 'jsx', entries: [[lit(this.text(key), line), this.expr(value)]], line };
  }

  protected template(node: Node): Expr {
    const parts = inner(node).map((one): Expr => {
      if (one.type === 'template_substitution') {
        const [of] = inner(one);
        return of === undefined ? this.nothing(one) : this.expr(of);
      }
      return lit(unescaped(this.text(one)), this.line(one));
    });
    return { k: 'text', parts, line: this.line(node) };
  }

  protected called(node: Node): Expr {
    const isNew = node.type === 'new_expression';
    const fn = this.need(node, isNew ? 'constructor' : 'function');
    const list = child(node, 'arguments');
    if (list?.type === 'template_string') {
      // a tag gets the parts one by one
      const parts = inner(list).filter(({ type }) => type === 'template_substitution');
      return this.call(
        node,
        { k: 'member', of: fn, name: '``', line: fn.line },
        parts.map((one) => this.many(one)),
      );
    }
    const args = list === undefined ? [] : inner(list).map((one) => this.expr(one));
    const line = fn.k === 'member' ? fn.line : this.line(node);
    return { k: 'call', fn, args, names: noNames, isNew, line };
  }

  protected member(node: Node): Expr {
    const property = child(node, 'property');
    const line = property === undefined ? this.line(node) : this.line(property);
    return {
      k: 'member',
      of: this.need(node, 'object'),
      name: property === undefined ? '' : this.text(property),
      line,
    };
  }

  protected key(node: Node | undefined): Expr | null {
    if (node === undefined) return null;
    if (node.type === 'property_identifier' || node.type === 'identifier') return lit(this.text(node), this.line(node));
    if (node.type === 'computed_property_name') {
      const [of] = inner(node);
      return of === undefined ? null : this.expr(of);
    }
    return this.expr(node);
  }

  protected object(node: Node): Expr {
    const entries = inner(node).map((one): readonly [Expr | null, Expr] => {
      const line = this.line(one);
      switch (one.type) {
        case 'pair':
        case 'pair_pattern':
          return [this.key(child(one, 'key')), this.need(one, 'value')];
        case 'shorthand_property_identifier':
        case 'shorthand_property_identifier_pattern':
          return [lit(this.text(one), line), name(this.text(one), line)];
        case 'object_assignment_pattern': {
          const left = child(one, 'left');
          return [left === undefined ? null : lit(this.text(left), line), this.expr(one)];
        }
        case 'method_definition':
          return [this.key(child(one, 'name')), { k: 'fn', fn: this.fn(one), line }];
        default: {
          const [of] = inner(one);
          return [null, of === undefined ? this.nothing(one) : this.expr(of)];
        }
      }
    });
    return { k: 'dict', type: '', entries, line: this.line(node) };
  }

  protected marksOf(node: Node): Expr[] {
    return node.kids.filter(({ type }) => type === 'decorator').flatMap((one) => inner(one).map((of) => this.expr(of)));
  }

  protected typeOf(node: Node): string {
    const found = child(node, 'type') ?? childOf(node, 'type_annotation');
    return found === undefined
      ? ''
      : this.text(found)
          .replace(/^[:\s]+/, '')
          .replace(/<[^]*$/, '')
          .slice(0, 100);
  }

  protected param(node: Node): Param {
    if (node.type === 'required_parameter' || node.type === 'optional_parameter') {
      const pattern = child(node, 'pattern');
      return {
        to: pattern === undefined ? this.nothing(node) : this.expr(pattern),
        type: this.typeOf(node),
        marks: this.marksOf(node),
        value: this.exprAt(node, 'value'),
      };
    }
    if (node.type === 'assignment_pattern')
      return { to: this.need(node, 'left'), type: '', marks: [], value: this.exprAt(node, 'right') };
    return { to: this.expr(node), type: '', marks: [], value: null };
  }

  protected fn(node: Node, marks: readonly Expr[] = []): Fn {
    const own = child(node, 'name');
    const body = child(node, 'body');
    const single = child(node, 'parameter');
    const list = child(node, 'parameters');
    const given = single === undefined ? (list === undefined ? [] : inner(list)) : [single];
    const line = this.line(node);
    return {
      name: own === undefined ? '' : this.text(own),
      params: given.map((one) => this.param(one)),
      body:
        body === undefined
          ? []
          : body.type === 'statement_block'
            ? this.block(body)
            : [{ k: 'return', value: this.expr(body), line: this.line(body) }],
      marks,
      isExported: false,
      line,
    };
  }
}
