// A visual rule, checked as what it stands for: what a person who is filling the form needs.
import { Diagnostics } from '../diagnostics/diagnostics.js';
import { renderVisualRule } from './custom-rules.js';
import { checkRuleText, type CheckedRule } from './raw-rule.js';
import type { CustomRule } from './settings.js';

/** The text a visual rule stands for. Problems of its parts carry `/variable`, `/operator` or `/value`. */
export function checkVisualRule(rule: CustomRule): CheckedRule {
  const diagnostics = new Diagnostics();
  const text = renderVisualRule(rule, '', diagnostics);
  if (text === null) return { text: null, ids: [], diagnostics: diagnostics.list };
  return checkRuleText(Buffer.from(text, 'latin1').toString('utf8'), [rule.id, rule.id], `rule ${rule.id}`);
}
