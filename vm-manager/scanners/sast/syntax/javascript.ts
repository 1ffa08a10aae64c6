// JavaScript and TypeScript → statements, classes.
import { name, type ClassOf, type Expr, type Fn, type Stmt } from './ir.js';
import { child, childOf, childrenOf, inner } from './lower-kit.js';
import { moduleName } from './names.js';
import type { Node } from './tree.js';
import { JavaScriptExpressions } from './javascript-expressions.js';

export class JavaScriptLowering extends JavaScriptExpressions {
  private classOf(node: Node): ClassOf {
    const own = child(node, 'name');
    const body = child(node, 'body');
    const members = body === undefined ? [] : body.kids;
    const heritage = childOf(node, 'class_heritage');
    const base =
      heritage === undefined
        ? ''
        : this.text(heritage)
            .replace(/^extends\s+/, '')
            .split(/[\s<({]/)[0];
    const methods: Fn[] = [];
    const fields: Stmt[] = [];
    let marks: Expr[] = [];
    for (const one of members) {
      if (one.type === 'decorator') marks.push(...inner(one).map((of) => this.expr(of)));
      else if (one.type === 'method_definition') methods.push(this.fn(one, marks));
      else if (one.type.endsWith('field_definition')) {
        const key = child(one, 'name') ?? child(one, 'property');
        const value = this.exprAt(one, 'value');
        const line = this.line(one);
        if (key !== undefined)
          fields.push({ k: 'var', to: name(this.text(key), line), type: this.typeOf(one), value, line });
      }
      if (one.type !== 'decorator' && one.type !== 'comment') marks = [];
    }
    return {
      name: own === undefined ? '' : this.text(own),
      bases: base === undefined ? [] : [base],
      fields,
      methods,
      marks: [],
    };
  }

  stmt(node: Node): readonly Stmt[] {
    const line = this.line(node);
    switch (node.type) {
      case 'import_statement':
        return [this.importOf(node)];
      case 'export_statement': {
        const made = child(node, 'declaration') ?? child(node, 'value');
        return made === undefined ? [] : made.type.endsWith('declaration') ? this.stmt(made) : this.exprStmt(made);
      }
      case 'function_declaration':
      case 'generator_function_declaration':
        return [{ k: 'fn', fn: this.fn(node), line }];
      case 'class_declaration':
      case 'abstract_class_declaration':
        return [{ k: 'class', of: this.classOf(node), line }];
      case 'lexical_declaration':
      case 'variable_declaration':
        return this.variables(node);
      case 'expression_statement':
        return inner(node).flatMap((one) => this.exprStmt(one));
      case 'statement_block':
      case 'labeled_statement':
        return [{ k: 'block', body: this.block(node), line }];
      case 'if_statement': {
        const other = child(node, 'alternative');
        return [
          {
            k: 'if',
            test: this.need(node, 'condition'),
            yes: this.body(child(node, 'consequence')),
            no: other === undefined ? [] : this.block(other),
            line,
          },
        ];
      }
      default:
        return this.stmt2(node, line);
    }
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
        const first = childrenOf(node, 'initializer').flatMap((one) => this.stmt(one));
        const update = childrenOf(node, 'increment').flatMap((one) => this.exprStmt(one));
        const test = childrenOf(node, 'condition').find(({ type }) => type !== ';');
        const body = [...this.body(child(node, 'body')), ...update];
        const of = test?.type === 'expression_statement' ? inner(test)[0] : test;
        return [{ k: 'loop', first, test: of === undefined ? null : this.expr(of), each: null, body, line }];
      }
      case 'for_in_statement': {
        const over = this.need(node, 'right');
        const to = this.need(node, 'left');
        const isIn = this.opOf(node) === 'in';
        const each = isIn ? { key: to, to: name('', line), over, type: '' } : { key: null, to, over, type: '' };
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
      case 'switch_statement':
        return [this.switchOf(node)];
      case 'try_statement': {
        const handler = child(node, 'handler');
        const last = child(node, 'finalizer');
        return [
          {
            k: 'try',
            body: this.block(child(node, 'body')),
            handlers: handler === undefined ? [] : [this.block(child(handler, 'body'))],
            last: last === undefined ? [] : this.block(child(last, 'body')),
            line,
          },
        ];
      }
      case 'empty_statement':
      case 'interface_declaration':
      case 'type_alias_declaration':
      case 'ambient_declaration':
      case 'enum_declaration':
        return [];
      default:
        return this.exprStmt(node);
    }
  }

  private variables(node: Node): readonly Stmt[] {
    return node.kids
      .filter(({ type }) => type === 'variable_declarator')
      .map((one): Stmt => {
        const value = this.exprAt(one, 'value');
        return { k: 'var', to: this.need(one, 'name'), type: this.typeOf(one), value, line: this.line(one) };
      });
  }

  private switchOf(node: Node): Stmt {
    const body = child(node, 'body');
    const groups = body === undefined ? [] : inner(body);
    const cases = groups.map((group) => ({
      tests: group.type === 'switch_default' ? [] : [this.need(group, 'value')],
      body: childrenOf(group, 'body').flatMap((one) => this.stmt(one)),
    }));
    return { k: 'switch', on: this.need(node, 'value'), cases, falls: true, line: this.line(node) };
  }

  private importOf(node: Node): Stmt {
    const names = new Map<string, string>();
    const from = child(node, 'source');
    const module = from === undefined ? '' : moduleName(this.text(from).slice(1, -1));
    const clause = childOf(node, 'import_clause');
    for (const one of clause === undefined ? [] : inner(clause)) {
      if (one.type === 'identifier') names.set(this.text(one), module);
      if (one.type === 'namespace_import') names.set(this.text(inner(one)[0] ?? one), module);
      if (one.type !== 'named_imports') continue;
      for (const part of inner(one)) {
        const own = child(part, 'name');
        const alias = child(part, 'alias') ?? own;
        if (own !== undefined && alias !== undefined) names.set(this.text(alias), `${module}.${this.text(own)}`);
      }
    }
    return { k: 'import', names, line: this.line(node) };
  }
}
