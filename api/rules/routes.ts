// Custom rules as resources over the settings object: every change is a settings version with its audit entry, and the
// ETag is the settings' own. A rule that is enabled compiles and passes its own tests; a disabled one may be
// unfinished.
import { Type, type TSchema } from '@sinclair/typebox';
import { requirePrincipal } from '../auth/guard.js';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { closed, refusals } from '../http-kit/schema.js';
import { changeSettings } from '../settings/change.js';
import type { Settings } from '../settings/schema.js';
import { CustomRule as CustomRuleSchema, RuleTest } from '../settings/schema/waf.js';
import { readHead } from '../settings/store.js';
import { checkCustomRule, customIds, type CustomRule, type RuleProblem } from './check.js';
import type { RuleLab } from './sandbox.js';
import type { RuleTestResult } from './rule-tests.js';

const ProblemView = Type.Object({
  severity: Type.String(),
  code: Type.String(),
  message: Type.String(),
  hint: Type.String(),
  path: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  excerpt: Type.String(),
});
const RuleView = Type.Unsafe<CustomRule>({
  type: 'object',
  additionalProperties: true,
  description: 'a custom rule as in the settings',
});
const TestView = Type.Object({
  name: Type.String(),
  expected: Type.String(),
  got: Type.String(),
  passed: Type.Boolean(),
  variable: Type.String(),
  verdict: Type.String(),
  status: Type.Union([Type.Integer(), Type.Null()]),
});
const SavedView = Type.Object({
  rule: RuleView,
  problems: Type.Array(ProblemView),
  tests: Type.Array(TestView),
  version: Type.Integer(),
});
const { id: idSchema, ...rest } = CustomRuleSchema.properties;
const NewRule = Type.Object({ ...rest, id: Type.Optional(idSchema) }, closed);
/** Without defaults: what a patch leaves out stays as it is. */
const RulePatch = Type.Unsafe<Partial<Omit<CustomRule, 'id'>>>(
  Type.Partial(
    Type.Object(
      Object.fromEntries(Object.entries(rest).map(([name, { default: _, ...schema }]) => [name, schema as TSchema])),
    ),
    closed,
  ),
);
const Params = Type.Object({ id: Type.Integer({ minimum: customIds[0], maximum: customIds[1] }) });

/** Throws 422 with every problem and its place, or with the tests that fail. `mustPass`: the rule is to be enabled. */
async function requireFit(
  lab: RuleLab,
  rule: CustomRule,
  others: readonly CustomRule[],
  mustPass: boolean,
): Promise<{ problems: RuleProblem[]; tests: RuleTestResult[] }> {
  const { text, problems } = checkCustomRule(rule, others);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (text === null && mustPass) {
    const first = errors[0];
    const place = first === undefined || first.line === 0 ? '' : ` (line ${first.line}, column ${first.column})`;
    throw new ApiError(
      'settings_impossible',
      `Rule ${rule.id} cannot be used: ${first?.message ?? 'it does not compile'}${place}.`,
      { errors: errors.map(({ path, message }) => ({ path, reason: message })), extensions: { diagnostics: problems } },
    );
  }
  const tests = text === null ? [] : await lab.runTests({ id: rule.id, text, tests: rule.tests });
  const failed = tests.filter(({ passed }) => !passed);
  if (mustPass && failed.length > 0) {
    const reasons = tests.flatMap(({ passed, name, expected, got }, index) =>
      passed ? [] : [{ path: `/tests/${index}`, reason: `"${name}": expected ${expected}, got ${got}` }],
    );
    throw new ApiError(
      'settings_impossible',
      `Rule ${rule.id} cannot be enabled: ${failed.length} of its ${tests.length} tests fail (${reasons[0]?.reason}).`,
      { errors: reasons, extensions: { tests, diagnostics: problems } },
    );
  }
  return { problems: [...problems], tests };
}

function requireRule(settings: Settings, id: number): CustomRule {
  const rule = settings.custom_rules.find((one) => one.id === id);
  if (rule === undefined) throw new ApiError('not_found', `There is no custom rule ${id}.`);
  return rule;
}

function nextId(rules: readonly CustomRule[]): number {
  const used = new Set(rules.map(({ id }) => id));
  for (let id = customIds[0]; id <= customIds[1]; id += 1) if (!used.has(id)) return id;
  throw new ApiError('conflict', 'Every id for custom rules is in use.');
}

export function registerRuleRoutes(app: App, house: House, lab: RuleLab): void {
  const { sql } = house.database;
  type Edit = { readonly rule: CustomRule; readonly rules: CustomRule[] };
  /**
   * Tests run before the settings are locked; the lock then sees whether the rules are still those that were tested.
   */
  const save = async (
    request: Parameters<typeof requirePrincipal>[0],
    action: string,
    edit: (current: Settings) => Edit,
  ) => {
    const before = await readHead(sql);
    const planned = edit(before.settings);
    const fit = await requireFit(lab, planned.rule, planned.rules, planned.rule.enabled);
    const saved = await changeSettings(house, requirePrincipal(request), {
      action,
      ifMatch: request.headers['if-match'],
      propose: (shown) => {
        const now = edit(shown);
        if (
          JSON.stringify(now.rule) !== JSON.stringify(planned.rule) ||
          checkCustomRule(now.rule, now.rules).text !== checkCustomRule(planned.rule, planned.rules).text
        )
          throw new ApiError('conflict', 'The custom rules were changed while the tests ran. Try again.');
        return { ...shown, custom_rules: now.rules };
      },
    });
    return {
      ...fit,
      rule: requireRule(saved.stored.settings, planned.rule.id),
      version: saved.stored.id,
      etag: saved.stored.etag,
    };
  };

  app.get(
    '/api/rules',
    {
      schema: {
        tags: ['rules'],
        summary: 'Custom rules',
        response: { 200: Type.Object({ items: Type.Array(RuleView), next_id: Type.Integer() }), ...refusals },
      },
    },
    async (_, reply) => {
      const { settings, etag } = await readHead(sql);
      reply.header('etag', etag);
      return { items: settings.custom_rules, next_id: nextId(settings.custom_rules) };
    },
  );
  app.get(
    '/api/rules/:id',
    {
      schema: {
        tags: ['rules'],
        summary: 'A custom rule with what the checks say',
        params: Params,
        response: {
          200: Type.Object({
            rule: RuleView,
            problems: Type.Array(ProblemView),
            seclang: Type.Union([Type.String(), Type.Null()]),
          }),
          ...refusals,
        },
      },
    },
    async (request, reply) => {
      const { settings, etag } = await readHead(sql);
      const rule = requireRule(settings, request.params.id);
      const { text, problems } = checkCustomRule(rule, settings.custom_rules);
      reply.header('etag', etag);
      return {
        rule,
        problems: [...problems],
        seclang: text === null ? null : Buffer.from(text, 'latin1').toString('utf8'),
      };
    },
  );
  app.post(
    '/api/rules',
    {
      schema: {
        tags: ['rules'],
        summary: 'Add a custom rule; enabled ones have to compile and to pass their tests',
        body: NewRule,
        response: { 201: SavedView, ...refusals },
      },
    },
    async (request, reply) => {
      const saved = await save(request, 'rule.create', (current) => {
        const rule = { ...request.body, id: request.body.id ?? nextId(current.custom_rules) };
        if (current.custom_rules.some(({ id }) => id === rule.id))
          throw new ApiError('conflict', `There is a custom rule ${rule.id} already.`);
        return { rule, rules: [...current.custom_rules, rule] };
      });
      reply.header('etag', saved.etag);
      return reply.code(201).send(saved);
    },
  );
  app.patch(
    '/api/rules/:id',
    {
      schema: {
        tags: ['rules'],
        summary: 'Change, enable or disable a custom rule',
        params: Params,
        body: RulePatch,
        response: { 200: SavedView, ...refusals },
      },
    },
    async (request, reply) => {
      const { enabled } = request.body;
      const verb =
        Object.keys(request.body).length === 1 && enabled !== undefined ? (enabled ? 'enable' : 'disable') : 'update';
      const saved = await save(request, `rule.${verb}`, (current) => {
        const rule = { ...requireRule(current, request.params.id), ...request.body };
        return { rule, rules: current.custom_rules.map((one) => (one.id === rule.id ? rule : one)) };
      });
      reply.header('etag', saved.etag);
      return saved;
    },
  );
  app.delete(
    '/api/rules/:id',
    {
      schema: {
        tags: ['rules'],
        summary: 'Remove a custom rule',
        params: Params,
        response: { 204: Type.Null(), ...refusals },
      },
    },
    async (request, reply) => {
      await changeSettings(house, requirePrincipal(request), {
        action: 'rule.delete',
        ifMatch: request.headers['if-match'],
        propose: (shown) => {
          const gone = requireRule(shown, request.params.id);
          return { ...shown, custom_rules: shown.custom_rules.filter((one) => one !== gone) };
        },
      });
      return reply.code(204).send(null);
    },
  );
  registerTestRoute(app, house, lab);
}

const TestBody = Type.Object(
  {
    id: Type.Optional(idSchema),
    rule: Type.Optional(NewRule),
    tests: Type.Optional(Type.Array(RuleTest, { maxItems: 50 })),
  },
  closed,
);

/** Runs tests without saving anything: of a stored rule, or of one that is being written. */
function registerTestRoute(app: App, house: House, lab: RuleLab): void {
  app.post(
    '/api/rules/test',
    {
      schema: {
        tags: ['rules'],
        summary: 'Check a rule and run its tests; nothing is saved',
        body: TestBody,
        response: {
          200: Type.Object({
            compiles: Type.Boolean(),
            passed: Type.Boolean(),
            problems: Type.Array(ProblemView),
            tests: Type.Array(TestView),
            seclang: Type.Union([Type.String(), Type.Null()]),
          }),
          ...refusals,
        },
      },
    },
    async (request) => {
      const { settings } = await readHead(house.database.sql);
      const { id, rule: given, tests } = request.body;
      if ((id === undefined) === (given === undefined))
        throw new ApiError('validation_failed', 'Give either the id of a rule or a rule.', {
          errors: [{ path: '', reason: 'needs id or rule' }],
        });
      const base =
        given === undefined
          ? requireRule(settings, id as number)
          : { ...given, id: given.id ?? nextId(settings.custom_rules) };
      const rule = tests === undefined ? base : { ...base, tests };
      const { text, problems } = checkCustomRule(rule, settings.custom_rules);
      const results = text === null ? [] : await lab.runTests({ id: rule.id, text, tests: rule.tests });
      return {
        compiles: text !== null,
        passed: text !== null && results.every(({ passed }) => passed),
        problems: [...problems],
        tests: results,
        seclang: text === null ? null : Buffer.from(text, 'latin1').toString('utf8'),
      };
    },
  );
}
