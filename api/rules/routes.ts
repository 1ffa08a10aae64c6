// Custom rules as resources over the settings object: every change is a settings version with its audit entry, and the
// ETag is the settings' own.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { changeSettings } from '../settings/change.js';
import { readHead } from '../settings/store.js';
import { withCurrentNames } from '#settings';
import { checkCustomRule, type RuleProblem } from './check.js';
import { idFor, nextId, requireRule, saveRule, type RuleParts } from './save.js';
import { NewRule, ProblemView, RuleParams, RulePatch, RuleView, SavedView, Seclang, toSeclang } from './views.js';

const listSchema = {
  tags: ['rules'],
  summary: 'Custom rules',
  response: { 200: Type.Object({ items: Type.Array(RuleView), next_id: Type.Integer() }), ...refusals },
};
const readSchema = {
  tags: ['rules'],
  summary: 'A custom rule with what the checks say',
  params: RuleParams,
  response: {
    200: Type.Object({ rule: RuleView, problems: Type.Array(ProblemView), seclang: Seclang }),
    ...refusals,
  },
};
const createSchema = {
  tags: ['rules'],
  summary: 'Add a custom rule; enabled ones have to compile and to pass their tests',
  body: NewRule,
  response: { 201: SavedView, ...refusals },
};
const changeSchema = {
  tags: ['rules'],
  summary: 'Change, enable or disable a custom rule',
  params: RuleParams,
  body: RulePatch,
  response: { 200: SavedView, ...refusals },
};
const removeSchema = {
  tags: ['rules'],
  summary: 'Remove a custom rule',
  params: RuleParams,
  response: { 204: Type.Null(), ...refusals },
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** A body under the names of today, before its schema is asked; what was renamed is kept for the answer. */
async function readOldNames(request: FastifyRequest): Promise<void> {
  const { value, notes } = withCurrentNames({ custom_rules: [request.body] });
  const body = (value as { custom_rules: readonly unknown[] }).custom_rules[0];
  // a patch says what kind a rule is where it says so, and otherwise leaves it
  if (request.method === 'PATCH' && isObject(body) && isObject(request.body) && !('kind' in request.body))
    delete body['kind'];
  request.body = body;
  renamedIn.set(
    request,
    notes.map(({ path, note }) => ({
      severity: 'note',
      code: 'GH-R0005',
      path: path.replace('/custom_rules/0', ''),
      message: note,
      hint: 'Both are read; one name is shown.',
      line: 0,
      column: 0,
      excerpt: '',
    })),
  );
}
const renamedIn = new WeakMap<FastifyRequest, RuleProblem[]>();

const withNotes = <T extends { readonly problems: RuleProblem[] }>(saved: T, request: FastifyRequest): T => ({
  ...saved,
  problems: [...(renamedIn.get(request) ?? []), ...saved.problems],
});

export function registerRuleRoutes(app: App, parts: RuleParts): void {
  const { sql } = parts.database;
  app.get('/api/rules', { schema: listSchema }, async (_, reply) => {
    const { settings, etag } = await readHead(sql);
    reply.header('etag', etag);
    return { items: settings.custom_rules, next_id: nextId(settings.custom_rules) };
  });
  app.get('/api/rules/:id', { schema: readSchema }, async (request, reply) => {
    const { settings, etag } = await readHead(sql);
    const rule = requireRule(settings, request.params.id);
    const { text, problems } = checkCustomRule(rule, settings.custom_rules);
    reply.header('etag', etag);
    return { rule, problems: [...problems], seclang: toSeclang(text) };
  });
  app.post('/api/rules', { schema: createSchema, preValidation: readOldNames }, async (request, reply) => {
    const saved = await saveRule(parts, request, 'rule.create', (current) => {
      const rule = { ...request.body, id: request.body.id ?? idFor(request.body, current.custom_rules) };
      if (current.custom_rules.some(({ id }) => id === rule.id))
        throw new ApiError('conflict', `There is a custom rule ${rule.id} already.`);
      return { rule, rules: [...current.custom_rules, rule] };
    });
    reply.header('etag', saved.etag);
    return reply.code(201).send(withNotes(saved, request));
  });
  app.patch('/api/rules/:id', { schema: changeSchema, preValidation: readOldNames }, async (request, reply) => {
    const saved = await saveRule(parts, request, actionOf(request.body), (current) => {
      const rule = { ...requireRule(current, request.params.id), ...request.body };
      return { rule, rules: current.custom_rules.map((one) => (one.id === rule.id ? rule : one)) };
    });
    reply.header('etag', saved.etag);
    return withNotes(saved, request);
  });
  app.delete('/api/rules/:id', { schema: removeSchema }, async (request, reply) => {
    await changeSettings(parts, requirePrincipal(request), {
      action: 'rule.delete',
      ifMatch: request.headers['if-match'],
      propose: (shown) => {
        const gone = requireRule(shown, request.params.id);
        return { ...shown, custom_rules: shown.custom_rules.filter((one) => one !== gone) };
      },
    });
    return reply.code(204).send(null);
  });
}

/** A change of nothing but `enabled` has a name of its own. */
function actionOf(patch: { readonly enabled?: boolean }) {
  if (Object.keys(patch).length !== 1 || patch.enabled === undefined) return 'rule.update';
  return patch.enabled ? 'rule.enable' : 'rule.disable';
}
