// Rules about Dockerfiles. Their subject is the whole file, as its stages.
import type { Checked } from '../rule.js';
import type { Stages } from './commands.js';
import { harmRules } from './harm.js';
import { mistakeRules } from './mistakes.js';

export const dockerRules: readonly Checked<Stages>[] = [...harmRules, ...mistakeRules];
