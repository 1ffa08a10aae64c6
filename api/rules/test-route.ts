// Runs tests without saving anything: of a stored rule, or of one that is being written.
import { Type } from '@sinclair/typebox';
import { ApiError, closed, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { RuleTest } from '#settings';
import { readHead } from '../settings/store.js';
import { checkCustomRule } from './check.js';
import { idFor, requireRule } from './save.js';
import { NewRule, ProblemView, RuleId, Seclang, TestView, toSeclang } from './views.js';

const schema = {
  tags: ['rules'],
  summary: 'Check a rule and run its tests; nothing is saved',
  body: Type.Object(
    {
      id: Type.Optional(RuleId),
      rule: Type.Optional(NewRule),
      tests: Type.Optional(Type.Array(RuleTest, { maxItems: 50 })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      compiles: Type.Boolean(),
      passed: Type.Boolean(),
      problems: Type.Array(ProblemView),
      tests: Type.Array(TestView),
      seclang: Seclang,
    }),
    ...refusals,
  },
};

export function registerTestRoute(app: App, { database, sandbox }: Pick<Parts, 'database' | 'sandbox'>): void {
  app.post('/api/rules/test', { schema }, async (request) => {
    const { settings } = await readHead(database.sql);
    const { id, rule: given, tests } = request.body;
    if ((id === undefined) === (given === undefined))
      throw new ApiError('validation_failed', 'Give either the id of a rule or a rule.', {
        errors: [{ path: '', reason: 'needs id or rule' }],
      });
    const base =
      given === undefined
        ? requireRule(settings, id as number)
        : { ...given, id: given.id ?? idFor(given, settings.custom_rules) };
    const rule = tests === undefined ? base : { ...base, tests };
    const { text, problems } = checkCustomRule(rule, settings.custom_rules);
    const results = text === null ? [] : await sandbox.runTests({ id: rule.id, text, tests: rule.tests });
    return {
      compiles: text !== null,
      passed: text !== null && results.every(({ passed }) => passed),
      problems: [...problems],
      tests: results,
      seclang: toSeclang(text),
    };
  });
}
