// Python → expressions and statements.
import { lit, name, type ClassOf, type Expr, type Fn, type Param, type Stmt } from './ir.js';
import { child, childOf, childrenOf, inner, Lowering, unescaped } from './lower-kit.js';
import type { Node } from './tree.js';

export class PythonLowering extends Lowering {
  expr(node: Node): Expr {
    const line = this.line(node);
    switch (node.type) {
      case 'identifier':
        return name(this.text(node), line);
      case 'string':
        return this.string(node);
      case 'concatenated_string':
        return { k: 'text', parts: inner(node).map((one) => this.expr(one)), line };
      case 'integer':
      case 'float':
        return this.number(node);
      case 'true':
      case 'false':
        return lit(node.type === 'true', line);
      case 'none':
        return lit(null, line);
      case 'call':
        return this.called(node);
      case 'attribute': {
        const own = child(node, 'attribute');
        return { k: 'member', of: this.need(node, 'object'), name: own === undefined ? '' : this.text(own), line };
      }
      case 'subscript': {
        const key = child(node, 'subscript');
        return { k: 'index', of: this.need(node, 'value'), key: key === undefined ? null : this.expr(key), line };
      }
      case 'binary_operator':
      case 'boolean_operator':
        return this.bin(node, this.opOf(node));
      case 'comparison_operator':
        return this.comparison(node);
      case 'not_operator':
        return { k: 'un', op: '!', of: this.need(node, 'argument'), line };
      case 'unary_operator':
        return { k: 'un', op: this.opOf(node), of: this.need(node, 'argument'), line };
      default:
        return this.expr2(node, line);
    }
  }

  private expr2(node: Node, line: number): Expr {
    switch (node.type) {
      case 'parenthesized_expression':
      case 'await': {
        const [of] = inner(node);
        return of === undefined ? this.nothing(node) : this.expr(of);
      }
      case 'conditional_expression': {
        const [yes, test, no] = inner(node).map((one) => this.expr(one));
        return yes === undefined || test === undefined || no === undefined
          ? this.many(node)
          : { k: 'cond', test, yes, no, line };
      }
      case 'named_expression':
        return { k: 'set', to: this.need(node, 'name'), op: '=', value: this.need(node, 'value'), line };
      case 'assignment':
      case 'augmented_assignment': {
        const value = child(node, 'right');
        const op = node.type === 'assignment' ? '=' : this.opOf(node);
        if (value === undefined) return this.nothing(node);
        return { k: 'set', to: this.need(node, 'left'), op, value: this.expr(value), line };
      }
      case 'list':
      case 'tuple':
      case 'set':
      case 'expression_list':
      case 'pattern_list':
      case 'tuple_pattern':
      case 'list_pattern':
        return { k: 'list', items: inner(node).map((one) => this.expr(one)), line };
      case 'list_splat':
      case 'list_splat_pattern':
      case 'dictionary_splat_pattern': {
        const [of] = inner(node);
        return { k: 'un', op: '...', of: of === undefined ? this.nothing(node) : this.expr(of), line };
      }
      case 'dictionary':
        return {
          k: 'dict',
          type: '',
          entries: inner(node).map((one): readonly [Expr | null, Expr] =>
            one.type === 'pair' ? [this.exprAt(one, 'key'), this.need(one, 'value')] : [null, this.many(one)],
          ),
          line,
        };
      case 'lambda':
        return { k: 'fn', fn: this.lambda(node), line };
      case 'list_comprehension':
      case 'set_comprehension':
      case 'generator_expression':
      case 'dictionary_comprehension':
        return this.comprehension(node);
      case 'type':
        return this.nothing(node);
      default:
        return this.many(node);
    }
  }

  private string(node: Node): Expr {
    const line = this.line(node);
    const start = childOf(node, 'string_start');
    const isRaw = start !== undefined && /r/i.test(this.text(start));
    const parts = inner(node).flatMap((one): Expr[] => {
      if (one.type === 'string_content')
        return [lit(isRaw ? this.text(one) : unescaped(this.text(one)), this.line(one))];
      return one.type === 'interpolation' ? [this.need(one, 'expression')] : [];
    });
    if (parts.length === 0) return lit('', line);
    const [only] = parts;
    return parts.length === 1 && only?.k === 'lit' ? { ...only, line } : { k: 'text', parts, line };
  }

  private comparison(node: Node): Expr {
    const line = this.line(node);
    const ops = childrenOf(node, 'operators').map((one) => this.text(one).replace(/\s+/, '_'));
    const sides = inner(node)
      .filter(({ field }) => field !== 'operators')
      .map((one) => this.expr(one));
    const [left = this.nothing(node), right = this.nothing(node)] = sides;
    return { k: 'bin', op: ops[0] ?? '==', left, right, line };
  }

  private called(node: Node): Expr {
    const line = this.line(node);
    const list = child(node, 'arguments');
    const args: Expr[] = [];
    const names = new Map<string, Expr>();
    const given = list === undefined ? [] : list.type === 'generator_expression' ? [list] : inner(list);
    for (const one of given) {
      if (one.type === 'keyword_argument') {
        const own = child(one, 'name');
        if (own !== undefined) names.set(this.text(own), this.need(one, 'value'));
      } else if (one.type === 'dictionary_splat') names.set('**', this.many(one));
      else args.push(this.expr(one));
    }
    return { k: 'call', fn: this.need(node, 'function'), args, names, isNew: false, line };
  }

  /** As a loop that puts its results into a list. */
  private comprehension(node: Node): Expr {
    const line = this.line(node);
    const body = child(node, 'body');
    const over = childOf(node, 'for_in_clause');
    if (body === undefined || over === undefined) return this.many(node);
    const fn: Fn = {
      name: '',
      params: [{ to: this.need(over, 'left'), type: '', marks: [], value: null }],
      body: [{ k: 'return', value: body.type === 'pair' ? this.many(body) : this.expr(body), line }],
      marks: [],
      isExported: false,
      line,
    };
    const called: Expr = { k: 'member', of: this.need(over, 'right'), name: 'map', line };
    return this.call(node, called, [{ k: 'fn', fn, line }]);
  }

  private lambda(node: Node): Fn {
    const line = this.line(node);
    const body = child(node, 'body');
    return {
      name: '',
      params: this.params(child(node, 'parameters')),
      body: body === undefined ? [] : [{ k: 'return', value: this.expr(body), line }],
      marks: [],
      isExported: false,
      line,
    };
  }

  private params(node: Node | undefined): Param[] {
    return (node === undefined ? [] : inner(node)).map((one): Param => {
      const line = this.line(one);
      const type = child(one, 'type');
      const typed = type === undefined ? '' : this.text(type);
      switch (one.type) {
        case 'identifier':
          return { to: this.expr(one), type: '', marks: [], value: null };
        case 'default_parameter':
        case 'typed_default_parameter':
          return { to: this.need(one, 'name'), type: typed, marks: [], value: this.exprAt(one, 'value') };
        case 'typed_parameter': {
          const [own] = inner(one);
          return { to: own === undefined ? name('', line) : this.expr(own), type: typed, marks: [], value: null };
        }
        case 'list_splat_pattern':
          return { to: this.expr(one), type: '', marks: [], value: null };
        default:
          return { to: name(this.text(one).replace(/^\*+/, ''), line), type: '', marks: [], value: null };
      }
    });
  }

  private fn(node: Node, marks: readonly Expr[] = []): Fn {
    const own = child(node, 'name');
    return {
      name: own === undefined ? '' : this.text(own),
      params: this.params(child(node, 'parameters')),
      body: this.block(child(node, 'body')),
      marks,
      isExported: true,
      line: this.line(node),
    };
  }

  private marksOf(node: Node): Expr[] {
    return node.kids.filter(({ type }) => type === 'decorator').flatMap((one) => inner(one).map((of) => this.expr(of)));
  }

  private classOf(node: Node): ClassOf {
    const own = child(node, 'name');
    const bases = child(node, 'superclasses');
    const fields: Stmt[] = [];
    const methods: Fn[] = [];
    const body = child(node, 'body');
    for (const one of body === undefined ? [] : inner(body)) {
      const made = one.type === 'decorated_definition' ? child(one, 'definition') : one;
      if (made?.type === 'function_definition') methods.push(this.fn(made, one === made ? [] : this.marksOf(one)));
      else fields.push(...this.stmt(one));
    }
    return {
      name: own === undefined ? '' : this.text(own),
      bases: bases === undefined ? [] : inner(bases).map((one) => this.text(one)),
      fields,
      methods,
      marks: [],
    };
  }

  stmt(node: Node): readonly Stmt[] {
    const line = this.line(node);
    switch (node.type) {
      case 'expression_statement':
        return inner(node).flatMap((one) => this.exprStmt(one));
      case 'assignment':
        return this.exprStmt(node);
      case 'function_definition':
        return [{ k: 'fn', fn: this.fn(node), line }];
      case 'class_definition':
        return [{ k: 'class', of: this.classOf(node), line }];
      case 'decorated_definition': {
        const made = child(node, 'definition');
        if (made?.type !== 'function_definition') return made === undefined ? [] : this.stmt(made);
        const marks = this.marksOf(node);
        return [...marks.map((of): Stmt => ({ k: 'expr', of, line })), { k: 'fn', fn: this.fn(made, marks), line }];
      }
      case 'import_statement':
      case 'import_from_statement':
        return [this.importOf(node)];
      case 'block':
      case 'module':
        return [{ k: 'block', body: this.block(node), line }];
      case 'if_statement':
        return [this.ifOf(node)];
      default:
        return this.stmt2(node, line);
    }
  }

  private ifOf(node: Node): Stmt {
    const others = childrenOf(node, 'alternative');
    const last = others.at(-1);
    let no: readonly Stmt[] = last?.type === 'else_clause' ? this.block(child(last, 'body')) : [];
    for (const one of others.filter(({ type }) => type === 'elif_clause').reverse())
      no = [
        {
          k: 'if',
          test: this.need(one, 'condition'),
          yes: this.block(child(one, 'consequence')),
          no,
          line: this.line(one),
        },
      ];
    return {
      k: 'if',
      test: this.need(node, 'condition'),
      yes: this.block(child(node, 'consequence')),
      no,
      line: this.line(node),
    };
  }

  private stmt2(node: Node, line: number): readonly Stmt[] {
    switch (node.type) {
      case 'for_statement': {
        const each = { key: null, to: this.need(node, 'left'), over: this.need(node, 'right'), type: '' };
        return [{ k: 'loop', first: [], test: null, each, body: this.block(child(node, 'body')), line }];
      }
      case 'while_statement':
        return [
          {
            k: 'loop',
            first: [],
            test: this.exprAt(node, 'condition'),
            each: null,
            body: this.block(child(node, 'body')),
            line,
          },
        ];
      case 'return_statement':
      case 'raise_statement': {
        const [value] = inner(node);
        const k = node.type === 'return_statement' ? 'return' : 'throw';
        return [{ k, value: value === undefined ? null : this.expr(value), line }];
      }
      case 'break_statement':
      case 'continue_statement':
        return [{ k: 'break', line }];
      case 'with_statement':
        return this.withOf(node);
      case 'try_statement': {
        const handlers = node.kids
          .filter(({ type }) => type.startsWith('except'))
          .map((one) => this.block(childOf(one, 'block')));
        const last = childOf(node, 'finally_clause');
        const other = childOf(node, 'else_clause');
        return [
          {
            k: 'try',
            body: [
              ...this.block(child(node, 'body')),
              ...(other === undefined ? [] : this.block(child(other, 'body'))),
            ],
            handlers,
            last: last === undefined ? [] : this.block(childOf(last, 'block')),
            line,
          },
        ];
      }
      case 'assert_statement': {
        // it may be switched off, and yet says what the writer has checked
        const [test] = inner(node);
        return test === undefined ? [] : this.exprStmt(test);
      }
      case 'pass_statement':
      case 'global_statement':
      case 'nonlocal_statement':
      case 'future_import_statement':
        return [];
      case 'match_statement':
        return [{ k: 'block', body: inner(node).flatMap((one) => this.block(one)), line }];
      default:
        return this.exprStmt(node);
    }
  }

  private withOf(node: Node): readonly Stmt[] {
    const clause = childOf(node, 'with_clause');
    const items = (clause === undefined ? [] : inner(clause)).flatMap((item): readonly Stmt[] => {
      const value = child(item, 'value');
      if (value === undefined) return [];
      const line = this.line(item);
      const alias = childOf(value, 'as_pattern_target') ?? child(value, 'alias');
      if (value.type !== 'as_pattern' || alias === undefined) return this.exprStmt(value);
      const [of] = inner(value);
      const [to] = inner(alias);
      if (of === undefined || to === undefined) return [];
      return [{ k: 'var', to: this.expr(to), type: '', value: this.expr(of), line }];
    });
    return [...items, ...this.block(child(node, 'body'))];
  }

  private importOf(node: Node): Stmt {
    const names = new Map<string, string>();
    const from = child(node, 'module_name');
    const before = from === undefined ? '' : `${this.text(from)}.`;
    for (const one of childrenOf(node, 'name')) {
      if (one.type === 'aliased_import') {
        const [own, alias] = [child(one, 'name'), child(one, 'alias')];
        if (own !== undefined && alias !== undefined) names.set(this.text(alias), before + this.text(own));
      } else {
        const text = this.text(one);
        const first = text.split('.')[0] ?? text;
        names.set(before === '' ? first : text, before === '' ? first : before + text);
      }
    }
    return { k: 'import', names, line: this.line(node) };
  }
}
