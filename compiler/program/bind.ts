// AST → configuration: names get their meaning, chains are assembled, ids checked. Program assembly is in assemble.ts.
import type { DirectiveNode, Node, RuleNode } from '../tree/ast.js';
import { applyActions } from './actions/index.js';
import { createActionSet, quoteForMessage, type BindContext, type BoundLink, type BoundRule } from './bound-rule.js';
import { createConfiguration, type Configuration } from './configuration.js';
import { directives } from './directives/index.js';
import { variables } from './names.js';
import { bindOperator } from './operators.js';
import type { Span } from '../text/source.js';
import { bindTargets } from './targets.js';

class Binder {
  readonly configuration = createConfiguration();
  private readonly ids = new Map<number, RuleNode>();
  /** The chain that waits for its next link. */
  private open: { rule: BoundRule | null; last: Span; phase: number } | null = null;

  constructor(private readonly context: BindContext) {}

  bind(nodes: readonly Node[]): Configuration {
    for (const node of nodes) {
      if (node.kind === 'directive') this.directive(node);
      else if (node.kind === 'damaged') this.open = node.chains ? { rule: null, last: node, phase: 2 } : null;
      else this.rule(node);
    }
    this.dropOpenChain();
    return this.configuration;
  }

  /** ModSecurity loads such a chain and it never matches; here it is left out. */
  private dropOpenChain(): void {
    const chain = this.open;
    this.open = null;
    if (chain === null || chain.rule === null) return; // without a rule the problem was reported already
    this.context.report(
      'GH-C2003',
      'the chain is not continued, so that the rule can never match; it is left out',
      chain.last,
    );
    const { items } = this.configuration;
    const at = items.indexOf(chain.rule);
    if (at !== -1) items.splice(at, 1);
  }

  private directive(node: DirectiveNode): void {
    const entry = directives.get(node.key);
    if (entry === undefined) {
      this.context.report('GH-C1004', `there is no directive ${quoteForMessage(node.name.text)}`, node.name);
      return;
    }
    if (node.args.length < entry.argsMin) {
      this.context.report(
        'GH-C1008',
        `${entry.name} needs ${entry.argsMin} argument${entry.argsMin === 1 ? '' : 's'}`,
        node.name,
      );
      return;
    }
    const extra = node.args[entry.argsMax];
    if (extra !== undefined) {
      this.context.report(
        'GH-C1002',
        `${entry.name} takes at most ${entry.argsMax} argument${entry.argsMax === 1 ? '' : 's'}`,
        extra,
      );
      return;
    }
    if (entry.name === 'SecMarker') this.dropOpenChain();
    entry.apply(node, this.configuration, this.context);
  }

  private rule(node: RuleNode): void {
    const link = this.link(node);
    const chain = this.open;
    this.open = null;
    if (chain !== null) this.continueChain(chain.rule, chain.phase, link, node);
    else this.head(link, node);
  }

  private continueChain(rule: BoundRule | null, phase: number, link: BoundLink | null, node: RuleNode): void {
    if (link !== null) {
      const { set } = link;
      if (set.disruptive !== null && set.disruptive.kind !== 'pass' && set.disruptive.kind !== 'block') {
        this.context.report('GH-C2004', `"${set.disruptive.kind}" in a chained rule`, node.name);
      }
      if (set.id !== null || set.phase !== null || set.tags.length > 0) {
        this.context.report('GH-C2015', 'id, phase and tags of a chained rule have no meaning of their own', node.name);
      }
      if (rule !== null) rule.links.push(link);
      if (set.chain) this.open = { rule, last: node.name, phase };
    } else if (node.actions.some((action) => action.name.text.toLowerCase() === 'chain'))
      this.open = { rule: null, last: node.name, phase };
  }

  private head(link: BoundLink | null, node: RuleNode): void {
    const continues = node.actions.some((action) => action.name.text.toLowerCase() === 'chain');
    const set = link?.set;
    const phase = set?.phase ?? 2;
    let rule: BoundRule | null = null;
    if (link !== null && set !== undefined) {
      if (set.id === null && node.kind === 'rule') this.context.report('GH-C2001', 'the rule has no id', node.name);
      else if (set.id !== null && this.ids.has(set.id)) {
        const first = this.ids.get(set.id) as RuleNode;
        const file = this.context.file(first.file);
        this.context.report(
          'GH-C2002',
          `rule id ${set.id} is used already at ${file.path}:${file.position(first.start).line}`,
          node.name,
        );
      } else {
        if (set.id === null) this.context.report('GH-C2016', 'the SecAction has no id', node.name);
        else this.ids.set(set.id, node);
        rule = { kind: 'rule', id: set.id ?? 0, phase, links: [link] };
        this.configuration.items.push(rule);
      }
      this.warnAboutPhase(link, phase, node);
    }
    if (continues) this.open = { rule, last: node.name, phase };
  }

  private link(node: RuleNode): BoundLink | null {
    const set = createActionSet();
    const clean = applyActions(node.actions, set, this.context);
    const targets = node.kind === 'action' ? { targets: [], exclusions: [] } : bindTargets(node.targets, this.context);
    const operator = node.operator === null ? null : bindOperator(node.operator, this.context);
    if (!clean || targets === null || (node.operator !== null && operator === null)) return null;
    if (node.kind === 'rule' && targets.targets.length === 0) {
      this.context.report('GH-C2011', 'the rule has only exclusions', node.name);
      return null;
    }
    const line = this.context.file(node.file).position(node.start).line;
    return {
      file: node.file,
      start: node.start,
      end: node.end,
      targets: targets.targets,
      exclusions: targets.exclusions,
      operator,
      set,
      line,
    };
  }

  /** A rule that can never see a value is a mistake worth a word; counts and TX are not. */
  private warnAboutPhase(link: BoundLink, phase: number, node: RuleNode): void {
    for (const target of link.targets) {
      const first = variables.get(target.variable)?.phase ?? 1;
      if (first > phase)
        this.context.report(
          'GH-C2007',
          `${target.variable} is empty before phase ${first}; this rule runs in phase ${phase}`,
          node.name,
        );
    }
  }
}

/** Binds every node; problems are reported and their rule is left out. */
export function bindNodes(nodes: readonly Node[], context: BindContext): Configuration {
  return new Binder(context).bind(nodes);
}
