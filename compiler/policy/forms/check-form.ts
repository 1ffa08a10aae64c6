// A rule of a form, whichever form it is.
import { checkConditions } from './conditions/render.js';
import { checkVisualRule } from './check-rule.js';
import type { CheckedRule } from '../raw-rule.js';
import type { CustomRule } from '../settings.js';

/**
 * The text that a rule of kind `visual` or `conditions` stands for, with what is wrong with it at the fields of it.
 * `isStored`: as in `checkConditions`.
 */
export const checkFormRule = (rule: CustomRule, isStored = false): CheckedRule =>
  rule.kind === 'conditions' ? checkConditions(rule, isStored) : checkVisualRule(rule);
