// Rules of scanners as an installation has them: on or off, another severity, rules of its own, and secrets that are
// known to be none. All of it counts from the next scan on.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json, violatedUnique } from '../database.js';
import { severityNames } from '../findings/words.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import type { VmPermission } from '../kit/permissions.js';
import { scannerOf } from '../scanners/catalogue.js';
import { fileKinds, type FileKind } from '../scanners/contract.js';
import { allowlistEndpoints } from './allowlist.js';
import { requirePattern } from './pattern.js';
import { asRule, ownRows, settingsOf, type OwnRow } from './profile.js';

const closed = { additionalProperties: false } as const;
const ofOrganisation = 'Rules of scanners';
const Line = Type.String({ minLength: 1, maxLength: 200 });
const Text = Type.String({ minLength: 1, maxLength: 4000 });
const ownMax = 200;

interface Place {
  readonly path: string;
  readonly view: VmPermission;
  readonly edit: VmPermission;
}
const code = { view: 'view_code', edit: 'manage_code_rules' } as const;
export const rulePlaces: Readonly<Partial<Record<FileKind, Place>>> = {
  secrets: { path: '/secrets/detectors', ...code },
  sast: { path: '/sast/rules', ...code },
  iac: { path: '/iac/rules', ...code },
  k8s: { path: '/k8s-posture/controls', view: 'view_k8s', edit: 'edit_k8s' },
};

const RuleView = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  version: Type.Integer(),
  title: Type.String(),
  severity: OneOf(severityNames, 'that its findings get'),
  default_severity: OneOf(severityNames),
  enabled: Type.Boolean(),
  provenance: OneOf(['built-in', 'own']),
  cwes: Type.Array(Type.Integer()),
  description: Type.String(),
  remediation: Type.String(),
  known_as: Type.Array(Type.String({ description: 'ids under which other tools know the same' })),
  pattern: Nullable(Type.String({ description: 'of an own rule' })),
  endings: Type.Array(Type.String({ description: 'of the files of an own rule; none: every file' })),
  reason: Type.String({ description: 'why it was changed' }),
  updated_by: Nullable(Type.String()),
  updated_at: Nullable(Time),
});

async function rulesOf({ sql }: Call, kind: FileKind) {
  const settings = await settingsOf(sql, kind);
  const own = new Map((await ownRows(sql, kind)).map((row) => [row.rule_id, row]));
  return [...scannerOf(kind).rules, ...[...own.values()].map(asRule)].map(({ knownAs = [], cwes, ...rule }) => {
    const set = settings.get(rule.id);
    const row = own.get(rule.id);
    return {
      ...{ ...rule, kind, cwes: [...cwes], known_as: [...knownAs] },
      ...{ default_severity: rule.severity, severity: set?.severity ?? rule.severity, enabled: set?.enabled ?? true },
      provenance: row === undefined ? ('built-in' as const) : ('own' as const),
      ...{ pattern: row?.pattern ?? null, endings: [...(row?.endings ?? [])], reason: set?.reason ?? '' },
      ...{ updated_by: set?.updated_by ?? null, updated_at: set?.updated_at.toISOString() ?? null },
    };
  });
}

async function requireRule(call: Call, kind: FileKind, id: string) {
  const found = (await rulesOf(call, kind)).find((rule) => rule.id === id);
  if (found === undefined) throw notFound('rule', id.slice(0, 80));
  return found;
}

const list = (kind: FileKind, { path, view }: Place): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    permission: view,
    kind: 'C',
    summary: `What the scanner for ${scannerOf(kind).label.toLowerCase()} looks for, and what to do about it`,
    answer: Type.Object({ items: Type.Array(RuleView) }),
    handle: async (call) => ({ items: await rulesOf(call, kind) }),
  });

const patch = (kind: FileKind, { path, edit }: Place): Endpoint =>
  endpoint({
    method: 'PATCH',
    path: `${path}/:id`,
    permission: edit,
    ofOrganisation,
    kind: 'C',
    summary: 'Switch a rule off or on, or give its findings another severity, from the next scan on',
    body: Type.Object(
      {
        enabled: Type.Optional(Type.Boolean()),
        severity: Type.Optional(Nullable(OneOf(severityNames, 'null: its own'))),
        reason: Type.Optional(Type.String({ maxLength: 2000, description: 'needed to switch it off' })),
      },
      { ...closed, minProperties: 1, examples: [{ enabled: false, reason: 'our framework does this' }] },
    ),
    answer: RuleView,
    handle: async (call) => {
      const { body, now, caller } = call;
      const before = await requireRule(call, kind, call.params['id'] ?? '');
      const { enabled = before.enabled, reason = before.reason } = body;
      const set = before.severity === before.default_severity ? null : before.severity;
      const severity = body.severity === undefined ? set : body.severity;
      if (!enabled && reason.trim() === '') throw unfit('/reason', 'is needed to switch a rule off');
      await call.audited(
        'vm.update',
        `changed the rule ${before.id} of ${kind}`,
        (tx) => tx`
          insert into vm_scan_rules (kind, rule_id, enabled, severity, reason, updated_by, updated_at)
          values (${kind}, ${before.id}, ${enabled}, ${severity}, ${reason}, ${caller.actor.name}, ${now})
          on conflict (kind, rule_id) do update set enabled = excluded.enabled, severity = excluded.severity,
            reason = excluded.reason, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
        () => ({ kind, rule: before.id, ...body }),
      );
      return requireRule(call, kind, before.id);
    },
  });

const OwnBody = Type.Object(
  {
    id: Type.String({ pattern: '^own-[a-z0-9][a-z0-9-]{0,59}$', description: 'begins with own-' }),
    title: Line,
    severity: OneOf(severityNames),
    pattern: Type.String({
      minLength: 3,
      maxLength: 1000,
      description: 'RE2, over the whole file line by line; of secrets the group `value` is the secret',
    }),
    cwes: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 99_999 }), { maxItems: 10 })),
    endings: Type.Optional(
      Type.Array(Type.String({ pattern: '^[a-z0-9]{1,12}$' }), { maxItems: 30, description: 'of files: js, ts' }),
    ),
    description: Text,
    remediation: Text,
  },
  {
    ...closed,
    examples: [
      {
        ...{ id: 'own-no-eval', title: 'eval of our template', severity: 'high', pattern: 'evalTemplate\\(' },
        ...{ description: 'It runs what a template says.', remediation: 'Use renderTemplate.', endings: ['js', 'ts'] },
      },
    ],
  },
);

const create = (kind: 'sast' | 'secrets', { path, edit }: Place): Endpoint =>
  endpoint({
    method: 'POST',
    path,
    permission: edit,
    ofOrganisation,
    kind: 'B',
    summary: 'Add a rule of your own: a pattern of RE2, from the next scan on',
    body: OwnBody,
    status: 201,
    answer: RuleView,
    handle: async (call) => {
      const { body, now, caller, sql } = call;
      requirePattern(body.pattern, '/pattern');
      const [all] = await sql<{ n: number }[]>`select count(*)::integer as n from vm_own_rules where kind = ${kind}`;
      if ((all?.n ?? 0) >= ownMax) throw new ApiError('conflict', `${ownMax} own rules of a scanner are the most.`);
      const { id, title, severity, pattern, cwes = [798], endings = [], description, remediation } = body;
      try {
        await call.audited(
          'vm.create',
          `added the rule ${id} of ${kind}`,
          (tx) => tx<OwnRow[]>`
            insert into vm_own_rules (kind, rule_id, title, severity, cwes, description, remediation, pattern, endings,
              created_by, created_at)
            values (${kind}, ${id}, ${title}, ${severity}, ${json(tx, kind === 'sast' ? (body.cwes ?? []) : cwes)},
              ${description}, ${remediation}, ${pattern}, ${json(tx, endings)}, ${caller.actor.name}, ${now})`,
          () => body,
        );
      } catch (error) {
        if (violatedUnique(error) !== null) throw new ApiError('conflict', `There is a rule ${id} already.`);
        throw error;
      }
      return requireRule(call, kind, id);
    },
  });

const removeOwn = (kind: 'sast' | 'secrets', { path, edit }: Place): Endpoint =>
  endpoint({
    method: 'DELETE',
    path: `${path}/:id`,
    permission: edit,
    ofOrganisation,
    kind: 'C',
    summary: 'Remove a rule of your own: from the next scan on its findings are gone; built-in ones are switched off',
    status: 204,
    handle: async (call) => {
      const rule = await requireRule(call, kind, call.params['id'] ?? '');
      if (rule.provenance !== 'own')
        throw new ApiError('conflict', `${rule.id} is built in: switch it off with PATCH in place of that.`);
      await call.audited('vm.delete', `removed the rule ${rule.id} of ${kind}`, async (tx) => {
        await tx`delete from vm_own_rules where kind = ${kind} and rule_id = ${rule.id}`;
        await tx`delete from vm_scan_rules where kind = ${kind} and rule_id = ${rule.id}`;
      });
    },
  });

export const codeRuleEndpoints: readonly Endpoint[] = [
  ...fileKinds.flatMap((kind) => {
    const place = rulePlaces[kind];
    if (place === undefined) return [];
    const own = kind === 'sast' || kind === 'secrets' ? [create(kind, place), removeOwn(kind, place)] : [];
    return [list(kind, place), ...own, patch(kind, place)];
  }),
  ...allowlistEndpoints,
];
