// Rule text that people write themselves, checked with positions. What it means must not depend on the rules that stand
// before and behind it in the settings: they are one file when they are compiled.
import { ownerOfRuleId } from '#settings';
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { Node } from '../tree/ast.js';
import { parseFile } from '../tree/parser.js';
import { compileProgram } from '../compile-program.js';
import { SourceFile } from '../text/source.js';
import { toBytes } from './quoting.js';

export interface CheckedRule {
  /** Rule text as bytes, ending in a line end; null when there is an error. */
  readonly text: string | null;
  /** Ids of the rules in it, heads of chains only. */
  readonly ids: readonly number[];
  /** What the heads of the rules say themselves, before default actions take the place of `block`. */
  readonly heads: readonly RuleHead[];
  /** Nothing but comments and blanks. */
  readonly isEmpty: boolean;
  /** Errors, warnings and notes; `path` is set for problems of a visual rule's parts. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The first rule of a chain, as it is written. */
export interface RuleHead {
  /** 0 where the text gives none. */
  readonly id: number;
  /** Lower-case names of its actions, with the values that they have. */
  readonly actions: readonly { readonly name: string; readonly value: string | null }[];
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * What people may write themselves: rules and changes to rules, nothing that opens files or reconfigures the engine.
 */
const rawDirectives: ReadonlySet<string> = new Set([
  'secmarker',
  'secruleremovebyid',
  'secruleremovebytag',
  'secruleremovebymsg',
  'secruleupdatetargetbyid',
  'secruleupdatetargetbytag',
  'secruleupdatetargetbymsg',
  'secruleupdateactionbyid',
]);

/** As bytes with LF, closed: a backslash at the end would draw the next rule into this one, or into its comment. */
function closedText(input: string): string {
  const text = toBytes(input.replace(/^\uFEFF/, '')).replace(/\r\n?/g, '\n');
  const ended = text.endsWith('\n') ? text : `${text}\n`;
  return /\\[ \t]*\n$/.test(ended) ? `${ended}\n` : ended;
}

/** Alone, a chain without its next rule is left out with a warning; here the next rule would be somebody else's. */
function refuseOpenChain(found: Diagnostic): Diagnostic {
  return found.code === 'GH-C2003'
    ? {
        ...found,
        severity: 'error',
        message: 'the chain is not continued, so that the next rule of the settings would become a part of it',
      }
    : found;
}

function headsOf(nodes: readonly Node[], file: SourceFile): RuleHead[] {
  return nodes.flatMap((node): RuleHead[] => {
    if (node.kind !== 'rule' && node.kind !== 'action') return [];
    const actions = node.actions.map(({ name, value }) => ({
      name: name.text.toLowerCase(),
      value: value === null ? null : value.text,
    }));
    const id = Number(actions.find(({ name }) => name === 'id')?.value ?? 0);
    return id > 0 ? [{ id, actions, ...file.position(node.start) }] : [];
  });
}

/**
 * Rules, tags and messages that the text changes or removes are those of the rule set that it is compiled with later:
 * that they are not in the text itself says nothing.
 */
const isOfTheRuleSet = ({ code }: Diagnostic): boolean => code === 'GH-C2010';

/**
 * Never throws. `name` is what diagnostics call the text. Ids outside `range` and directives that open or reconfigure
 * anything are errors.
 */
export function checkRuleText(input: string, range: readonly [number, number], name: string): CheckedRule {
  const text = closedText(input);
  const file = new SourceFile(0, name, text);
  const refusals = new Diagnostics();
  const nodes = parseFile(file, new Diagnostics());
  for (const node of nodes) {
    if (node.kind === 'directive' && !rawDirectives.has(node.key))
      refusals.report(
        'GH-C1004',
        `"${node.name.text.slice(0, 40)}" cannot stand in a rule of the settings`,
        file,
        node.name,
        'Write SecRule, SecAction, SecMarker and SecRuleUpdate… or SecRuleRemove… only.',
      );
  }
  const { program, diagnostics } = compileProgram([{ path: name, text }]);
  const rules = (program?.items ?? []).filter((item) => item.kind === 'rule');
  for (const rule of rules) {
    if (rule.id >= range[0] && rule.id <= range[1]) continue;
    const start = Math.max(0, text.indexOf(String(rule.id)));
    refusals.report(
      'GH-C2012',
      `rule id ${rule.id} is not from ${range[0]} to ${range[1]}: it belongs to ${ownerOfRuleId(rule.id)}`,
      file,
      { start, end: start + String(rule.id).length },
      `Use an id from ${range[0]} to ${range[1]}.`,
    );
  }
  const all = [...refusals.list, ...diagnostics.filter((found) => !isOfTheRuleSet(found)).map(refuseOpenChain)];
  return {
    text: all.some(({ severity }) => severity === 'error') ? null : text,
    ids: rules.map(({ id }) => id),
    heads: headsOf(nodes, file),
    isEmpty: nodes.length === 0,
    diagnostics: all,
  };
}

/** The ids that rules in a text of somebody's own give themselves, heads of chains only; [] where it cannot be read. */
export function findRuleIds(input: string): readonly number[] {
  const file = new SourceFile(0, 'rule', closedText(input));
  return headsOf(parseFile(file, new Diagnostics()), file).map(({ id }) => id);
}
