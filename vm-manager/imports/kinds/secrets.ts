// Severity of a leaked secret whose report rates nothing: what opens a whole account is critical.
import type { Severity } from '../../findings/words.js';

const critical = /private[-_ ]?key|aws|gcp|azure|cloud/i;

export const severityOfSecret = (ruleAndTitle: string): Severity => (critical.test(ruleAndTitle) ? 'critical' : 'high');
