// A save of settings asks of the rules in them what /api/rules asks of one: they are checked and their tests are run
// before the lock of the settings is taken, and the lock sees whether they are still those that were checked.
import { readManagedRules } from '../change/steps/managed-rules.js';
import { toPolicy } from '../change/steps/policy.js';
import { ApiError, type Principal } from '../http-kit/index.js';
import { requireReachable } from '../outbound/reachable.js';
import type { Parts } from '../parts.js';
import { changedRules, isNothingChanged, type RulesFinding, type RulesOfSettings } from '../rules/check-settings.js';
import { checkSettings, type Settings } from '#settings';
import { changeSettings, type SavedSettings, type SettingsChange, type SettingsWriter } from './change.js';
import { hideSecrets } from './secrets.js';
import { readHead, type StoredSettings } from './store.js';

export type ProvingParts = SettingsWriter & Pick<Parts, 'sandbox' | 'outbound'>;

export interface ProvenSave extends SavedSettings {
  /** Warnings about the rules that this save changed. */
  readonly warnings: readonly RulesFinding[];
}

/**
 * `changeSettings`, with `settings_impossible` for rules that do not work and `conflict` when they changed meanwhile.
 */
export async function changeProven(
  parts: ProvingParts,
  principal: Principal,
  change: SettingsChange,
): Promise<ProvenSave> {
  const head = await readHead(parts.database.sql);
  const planned = plan(head, change);
  if (planned !== null) await requireReachable(parts.outbound, newTargets(hideSecrets(head.settings), planned));
  const warnings = planned === null ? [] : await prove(parts, head.settings, planned);
  const saved = await changeSettings(parts, principal, {
    ...change,
    accept: (before, after) => {
      if (isNothingChanged(changedRules(before, after)) || (planned !== null && rulesOf(planned) === rulesOf(after)))
        return;
      throw new ApiError('conflict', 'The rules were changed while these were checked. Try again.');
    },
  });
  return { ...saved, warnings };
}

/** Where events would go that did not go there before; of `shown` and `planned` readers see the same part. */
function newTargets(shown: Settings, planned: Settings): { readonly target: string; readonly path: string }[] {
  const known = new Set(shown.siem_connectors.map(({ name, target }) => `${name} ${target}`));
  const connectors = planned.siem_connectors.flatMap(({ name, target, enabled }, index) =>
    enabled && !known.has(`${name} ${target}`) ? [{ target, path: `/siem_connectors/${index}/target` }] : [],
  );
  const { siem_webhook_url: webhook } = planned;
  const isNew = webhook !== '' && webhook !== shown.siem_webhook_url;
  return isNew ? [...connectors, { target: webhook, path: '/siem_webhook_url' }] : connectors;
}

/** What the save would store; null where it is refused for another reason, which is told first. */
function plan(head: StoredSettings, { propose, ifMatch }: SettingsChange): Settings | null {
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== head.etag) return null;
  const checked = checkSettings(propose(hideSecrets(head.settings)));
  return checked.kind === 'fine' ? checked.settings : null;
}

const rulesOf = ({ custom_rules, virtual_patches, rule_exclusions }: RulesOfSettings): string =>
  JSON.stringify([custom_rules, virtual_patches, rule_exclusions]);

/** Throws `settings_impossible` with every problem at its place; returns warnings. */
async function prove(parts: ProvingParts, before: Settings, after: Settings): Promise<RulesFinding[]> {
  const changed = changedRules(before, after);
  if (isNothingChanged(changed)) return [];
  const { custom_rules, virtual_patches, rule_exclusions } = after;
  const found = await parts.sandbox.checkRules({ custom_rules, virtual_patches, rule_exclusions }, changed);
  const errors = [
    ...found.filter(({ severity }) => severity === 'error'),
    ...(await unknownPatches(parts, after, changed.virtual_patches)),
  ];
  if (errors.length === 0) return found;
  const [first] = errors;
  throw new ApiError(
    'settings_impossible',
    `Nothing was saved: ${first?.path} ${first?.reason}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}.`,
    {
      errors: errors.slice(0, 100).map(({ path, reason, fix }) => ({ path, reason, fix })),
      extensions: { diagnostics: found.slice(0, 100) },
    },
  );
}

/** Patches that name a vulnerability for which nobody has a rule. */
async function unknownPatches(
  { database: { sql } }: ProvingParts,
  after: Settings,
  changed: readonly number[],
): Promise<RulesFinding[]> {
  if (changed.length === 0) return [];
  const { problems } = toPolicy(after, await readManagedRules(sql, after));
  return problems.flatMap(({ path, message, code }) =>
    path != null && changed.some((index) => path === `/virtual_patches/${index}/cve`)
      ? [
          {
            severity: 'error' as const,
            code,
            path,
            reason: message,
            fix: 'Name one of GET /api/vpatch/catalog, or give its rule in seclang.',
          },
        ]
      : [],
  );
}
