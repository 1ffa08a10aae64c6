// Every directive besides SecRule, SecAction, Include and IncludeOptional, as one table.
import { acceptedDirectives, refusedDirectives } from './accepted.js';
import { auditDirectives } from './audit.js';
import { bodyDirectives } from './body.js';
import type { Directive } from './directive.js';
import { engineDirectives } from './engine.js';
import { ruleDirectives } from './rules.js';
import { updateDirectives } from './updates.js';

/** By lower-case name. */
export const directives: ReadonlyMap<string, Directive> = new Map(
  [
    ...ruleDirectives,
    ...updateDirectives,
    ...engineDirectives,
    ...bodyDirectives,
    ...auditDirectives,
    ...acceptedDirectives,
    ...refusedDirectives,
  ].map((directive) => [directive.name.toLowerCase(), directive]),
);
