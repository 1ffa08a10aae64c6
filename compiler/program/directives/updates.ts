// SecRuleUpdate… and SecRuleRemove…: changes to rules by id, tag or message. As in ModSecurity v3 they mean every rule
// of the configuration, whether it stands before or after them.
import RE2 from 're2';
import type { Fragment } from '../../text/fragment.js';
import type { DirectiveNode } from '../../tree/ast.js';
import { parseIdRanges, quoteForMessage, type BindContext } from '../bound-rule.js';
import type { Configuration, RuleSelection } from '../configuration.js';
import { parseActions } from '../../tree/parse-actions.js';
import { parseTargets } from '../../tree/parse-targets.js';
import { bindTargets } from '../targets.js';
import { argument, type Directive } from './directive.js';

/**
 * Tags and messages are compared exactly, as ModSecurity v3 does; a pattern with characters that mean something in a
 * regular expression is also searched as one, as ModSecurity v2 and Coraza do. `^OWASP_CRS/ATTACK-SQLI$` therefore
 * works, and `OWASP_CRS` does not remove everything.
 */
function textMatcher(pattern: Fragment, context: BindContext): ((text: string) => boolean) | null {
  const { text } = pattern;
  if (!/[\\^$.|?*+()[\]{}]/.test(text)) return (candidate) => candidate === text;
  try {
    const expression = new RE2(text);
    return (candidate) => candidate === text || expression.test(candidate);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    context.report('GH-C3003', `the pattern is not a regular expression: ${error.message}`, pattern);
    return null;
  }
}

function selection(args: readonly Fragment[], kind: 'id' | 'tag' | 'msg', context: BindContext): RuleSelection | null {
  const [first] = args;
  if (first === undefined) return null;
  if (kind !== 'id') {
    const matches = textMatcher(first, context);
    return matches === null ? null : { kind, pattern: first.text, matches };
  }
  const text = args.map((arg) => arg.text).join(' ');
  const ranges = parseIdRanges(text);
  if (ranges === null) {
    context.report('GH-C2012', `${quoteForMessage(text)} is not a list of ids`, first);
    return null;
  }
  return { kind, ranges };
}

function remove(name: string, kind: 'id' | 'tag' | 'msg'): Directive {
  return {
    name,
    argsMin: 1,
    argsMax: kind === 'id' ? 1000 : 1,
    apply: (node, configuration, context) => {
      const selected = selection(node.args, kind, context);
      if (selected !== null) configuration.removals.push({ selection: selected, at: node });
    },
  };
}

function updateTarget(name: string, kind: 'id' | 'tag' | 'msg'): Directive {
  return {
    name,
    argsMin: 2,
    argsMax: kind === 'id' ? 1000 : 3,
    apply: (node, configuration, context) => {
      // Ids may be spread over several arguments: `13-15 16 18 "!ARGS:x"`.
      let selectors = 1;
      while (kind === 'id' && selectors < node.args.length - 1 && parseIdRanges(argument(node, selectors)) !== null)
        selectors += 1;
      const selected = selection(node.args.slice(0, selectors), kind, context);
      const change = targetList(node.args[selectors], context);
      const old = node.args[selectors + 1];
      const replaced = old === undefined ? { targets: [], exclusions: [] } : targetList(old, context);
      if (selected === null || change === null || replaced === null) return;
      configuration.targetUpdates.push({
        selection: selected,
        additions: change.targets,
        exclusions: change.exclusions,
        replaced: replaced.targets,
        at: node,
      });
    },
  };
}

function targetList(source: Fragment | undefined, context: BindContext): ReturnType<typeof bindTargets> {
  if (source === undefined) return null;
  const nodes = parseTargets(source, context.file(source.file), context.diagnostics, true);
  return nodes === null ? null : bindTargets(nodes, context);
}

function applyActionUpdate(node: DirectiveNode, configuration: Configuration, context: BindContext): void {
  const [first, second] = node.args;
  if (first === undefined || second === undefined) return;
  const match = /^([^:]*)(?::(\d{1,3}))?$/.exec(argument(node, 0));
  const ids = match === null ? null : parseIdRanges(match[1] as string);
  if (ids === null) {
    context.report('GH-C2012', `${quoteForMessage(first.text)} is not an id or id:link`, first);
    return;
  }
  const actions = parseActions(second, context.file(second.file), context.diagnostics);
  if (actions !== null) configuration.actionUpdates.push({ ids, link: Number(match?.[2] ?? 0), actions, at: node });
}

export const updateDirectives: readonly Directive[] = [
  remove('SecRuleRemoveById', 'id'),
  remove('SecRuleRemoveByTag', 'tag'),
  remove('SecRuleRemoveByMsg', 'msg'),
  updateTarget('SecRuleUpdateTargetById', 'id'),
  updateTarget('SecRuleUpdateTargetByTag', 'tag'),
  updateTarget('SecRuleUpdateTargetByMsg', 'msg'),
  { name: 'SecRuleUpdateActionById', argsMin: 2, argsMax: 2, apply: applyActionUpdate },
];
