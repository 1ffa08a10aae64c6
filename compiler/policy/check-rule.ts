// A rule text of the settings, checked with positions: what a person who is typing it needs.
import { Diagnostics, type Diagnostic } from '../diagnostics.js';
import { parseFile } from '../parser.js';
import { compileProgram } from '../program.js';
import { SourceFile } from '../source.js';
import { isRuleDirective, renderVisualRule } from './custom-rules.js';
import { toBytes } from './quoting.js';
import type { VisualRule } from './settings.js';

export interface CheckedRule {
  /** Rule text as bytes, ending in a line end; null when there is an error. */
  readonly text: string | null;
  /** Ids of the rules in it, heads of chains only. */
  readonly ids: readonly number[];
  /** Errors, warnings and notes; `path` is set for problems of a visual rule's parts. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Never throws. `name` is what diagnostics call the text. Ids outside `range` and directives that open or reconfigure anything are errors. */
export function checkRuleText(input: string, range: readonly [number, number], name: string): CheckedRule {
  const converted = toBytes(input).replace(/\r\n?/g, '\n');
  const text = converted.endsWith('\n') ? converted : `${converted}\n`;
  const file = new SourceFile(0, name, text);
  const refusals = new Diagnostics();
  for (const node of parseFile(file, new Diagnostics())) {
    if (node.kind === 'directive' && !isRuleDirective(node.key)) refusals.report('GH-C1004', `"${node.name.text.slice(0, 40)}" cannot stand in a rule of the settings`, file, node.name, 'Write SecRule, SecAction, SecMarker and SecRuleUpdate… or SecRuleRemove… only.');
  }
  const { program, diagnostics } = compileProgram([{ path: name, text }]);
  const rules = (program?.items ?? []).filter((item) => item.kind === 'rule');
  for (const rule of rules) {
    if (rule.id >= range[0] && rule.id <= range[1]) continue;
    const start = Math.max(0, text.indexOf(String(rule.id)));
    refusals.report('GH-C2012', `rule id ${rule.id} is not from ${range[0]} to ${range[1]}`, file, { start, end: start + String(rule.id).length }, `Use an id from ${range[0]} to ${range[1]}.`);
  }
  const all = [...refusals.list, ...diagnostics];
  return { text: all.some(({ severity }) => severity === 'error') ? null : text, ids: rules.map(({ id }) => id), diagnostics: all };
}

/** The text a visual rule stands for. Problems of its parts carry `/variable`, `/operator` or `/value`. */
export function checkVisualRule(rule: VisualRule): CheckedRule {
  const diagnostics = new Diagnostics();
  const text = renderVisualRule(rule, '', diagnostics);
  if (text === null) return { text: null, ids: [], diagnostics: diagnostics.list };
  return checkRuleText(Buffer.from(text, 'latin1').toString('utf8'), [rule.id, rule.id], `rule ${rule.id}`);
}
