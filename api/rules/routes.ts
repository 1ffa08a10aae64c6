// Custom rules as resources over the settings object: every change is a settings version with its audit entry, and the
// ETag is the settings' own.
import { Type } from '@sinclair/typebox';
import { ApiError, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { changeSettings } from '../settings/change.js';
import { readHead } from '../settings/store.js';
import { checkCustomRule } from './check.js';
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
  app.post('/api/rules', { schema: createSchema }, async (request, reply) => {
    const saved = await saveRule(parts, request, 'rule.create', (current) => {
      const rule = { ...request.body, id: request.body.id ?? idFor(request.body, current.custom_rules) };
      if (current.custom_rules.some(({ id }) => id === rule.id))
        throw new ApiError('conflict', `There is a custom rule ${rule.id} already.`);
      return { rule, rules: [...current.custom_rules, rule] };
    });
    reply.header('etag', saved.etag);
    return reply.code(201).send(saved);
  });
  app.patch('/api/rules/:id', { schema: changeSchema }, async (request, reply) => {
    const saved = await saveRule(parts, request, actionOf(request.body), (current) => {
      const rule = { ...requireRule(current, request.params.id), ...request.body };
      return { rule, rules: current.custom_rules.map((one) => (one.id === rule.id ? rule : one)) };
    });
    reply.header('etag', saved.etag);
    return saved;
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
