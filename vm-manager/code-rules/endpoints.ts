// Rules of scanners as an installation has them: on or off, another severity, rules of its own, and secrets that are
// known to be none. All of it counts from the next scan on.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { json, violatedUnique, type Tx } from '../database.js';
import { severityNames, type Severity } from '../findings/words.js';
import { endpoint, notFound, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import type { VmPermission } from '../kit/permissions.js';
import { scannerOf } from '../scanners/catalogue.js';
import { fileKinds, type FileKind } from '../scanners/contract.js';
import { allowlistEndpoints } from './allowlist.js';
import { requirePattern } from './pattern.js';
import { asRule, ownRows, settingsOf, type OwnRow, type Setting } from './profile.js';

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
  set_for: Nullable(OneOf(['organisation', 'application'], 'who has set it; null: nobody, it is as it came')),
  reason: Type.String({ description: 'why it was changed' }),
  updated_by: Nullable(Type.String()),
  updated_at: Nullable(Time),
});

/** A row that says what the rule says by itself is nobody's. */
function placeOf(set: Setting | undefined): 'organisation' | 'application' | null {
  if (set === undefined) return null;
  if (set.application_id !== null) return 'application';
  return set.enabled === false || set.severity !== null ? 'organisation' : null;
}

async function rulesOf({ sql }: Call, kind: FileKind, application: number | null) {
  const settings = await settingsOf(sql, kind, application);
  const own = new Map((await ownRows(sql, kind)).map((row) => [row.rule_id, row]));
  return [...scannerOf(kind).rules, ...[...own.values()].map(asRule)].map(({ knownAs = [], cwes, ...rule }) => {
    const set = settings.get(rule.id);
    const row = own.get(rule.id);
    return {
      ...{ ...rule, kind, cwes: [...cwes], known_as: [...knownAs] },
      ...{ default_severity: rule.severity, severity: set?.severity ?? rule.severity, enabled: set?.enabled ?? true },
      provenance: row === undefined ? ('built-in' as const) : ('own' as const),
      ...{ pattern: row?.pattern ?? null, endings: [...(row?.endings ?? [])], reason: set?.reason ?? '' },
      set_for: placeOf(set),
      ...{ updated_by: set?.updated_by ?? null, updated_at: set?.updated_at.toISOString() ?? null },
    };
  });
}

async function requireRule(call: Call, kind: FileKind, id: string, application: number | null = null) {
  const found = (await rulesOf(call, kind, application)).find((rule) => rule.id === id);
  if (found === undefined) throw notFound('rule', id.slice(0, 80));
  return found;
}

/** null: none is named. Throws 404 for one that the caller does not see. */
const applicationOf = async (
  { sql, reach }: Call,
  { application_id: id }: { readonly application_id?: string },
): Promise<number | null> => (id === undefined ? null : (await requireApplication(sql, reach, id)).id);

const list = (kind: FileKind, { path, view }: Place): Endpoint =>
  endpoint({
    method: 'GET',
    path,
    permission: view,
    kind: 'C',
    summary: `What the scanner for ${scannerOf(kind).label.toLowerCase()} looks for, and what to do about it`,
    query: Type.Object(
      { application_id: Type.Optional(Type.String({ maxLength: 20, description: 'as scans of it have them' })) },
      closed,
    ),
    answer: Type.Object({ items: Type.Array(RuleView) }),
    handle: async (call) => ({ items: await rulesOf(call, kind, await applicationOf(call, call.query)) }),
  });

const RuleBody = Type.Object(
  {
    application_id: Type.Optional(
      Type.String({
        maxLength: 20,
        description: 'for scans of this application alone, over what the organisation has',
      }),
    ),
    enabled: Type.Optional(Nullable(Type.Boolean({ description: 'null: as the organisation has it' }))),
    severity: Type.Optional(Nullable(OneOf(severityNames, 'null: its own, or that of the organisation'))),
    reason: Type.Optional(Type.String({ maxLength: 2000, description: 'needed to switch it off' })),
  },
  { ...closed, minProperties: 1, examples: [{ enabled: false, reason: 'our framework does this' }] },
);

interface RuleSetting {
  readonly kind: FileKind;
  readonly id: string;
  readonly application: number | null;
  readonly enabled?: boolean | null;
  readonly severity?: Severity | null;
  readonly reason: string;
}

/** What is not given stays; what says nothing for an application any more goes. */
async function setRule(tx: Tx, { now, caller }: Call, given: RuleSetting): Promise<void> {
  const { kind, id, application, reason } = given;
  const [before] = await tx<{ enabled: boolean | null; severity: Severity | null }[]>`
    select enabled, severity from vm_scan_rules
    where kind = ${kind} and rule_id = ${id} and application_id is not distinct from ${application}`;
  const unset = application === null ? true : null;
  const enabled = given.enabled === undefined ? (before?.enabled ?? unset) : given.enabled;
  const severity = given.severity === undefined ? (before?.severity ?? null) : given.severity;
  await tx`
    delete from vm_scan_rules
    where kind = ${kind} and rule_id = ${id} and application_id is not distinct from ${application}`;
  if (application !== null && enabled === null && severity === null) return;
  await tx`
    insert into vm_scan_rules (kind, rule_id, application_id, enabled, severity, reason, updated_by, updated_at)
    values (${kind}, ${id}, ${application}, ${enabled}, ${severity}, ${reason}, ${caller.actor.name}, ${now})`;
}

const patch = (kind: FileKind, { path, edit }: Place): Endpoint =>
  endpoint({
    method: 'PATCH',
    path: `${path}/:id`,
    permission: edit,
    ofOrganisation,
    kind: 'C',
    summary: 'Switch a rule off or on, or give its findings another severity, from the next scan on',
    body: RuleBody,
    answer: RuleView,
    handle: async (call) => {
      const { body } = call;
      const application = await applicationOf(call, body);
      const before = await requireRule(call, kind, call.params['id'] ?? '', application);
      if (body.enabled === null && application === null)
        throw unfit('/enabled', 'is null, which means as the organisation has it', 'name an application_id');
      const reason = body.reason ?? before.reason;
      if (body.enabled === false && reason.trim() === '') throw unfit('/reason', 'is needed to switch a rule off');
      await call.audited(
        'vm.update',
        `changed the rule ${before.id} of ${kind}${application === null ? '' : ` for the application ${application}`}`,
        (tx) => setRule(tx, call, { kind, id: before.id, application, ...body, reason }),
        () => ({ kind, rule: before.id, ...body }),
      );
      return requireRule(call, kind, before.id, application);
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
