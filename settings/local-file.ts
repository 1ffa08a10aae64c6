// The settings file of a data plane without a control plane (data/settings.json): the same settings, the same names,
// the same check. What only the control plane could make true is refused by name, because leaving it out would change
// how traffic is handled without anybody having said so.
import { checkSettings } from './check.js';
import { withIds, type IdSources } from './ids.js';
import { isFields, withCurrentNames, type Renamed } from './names.js';
import type { Problem } from './problems.js';
import { factsOf } from './row.js';
import { defaultSettings, settingNames, settingRows, type SettingName, type Settings } from './table.js';

export type LocalFile =
  | { readonly kind: 'fine'; readonly settings: Settings; readonly notes: Renamed['notes'] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

/** Settings that a data plane alone puts in force. */
const localNames: ReadonlySet<string> = new Set(
  settingNames.filter((name) => {
    const { reach, enforcedBy } = factsOf(settingRows[name]);
    return enforcedBy !== null && reach.some((one) => one !== 'control');
  }),
);

const isKnown = (name: string): name is SettingName => Object.hasOwn(settingRows, name);

/** A local rule need not have a name; the settings of the control plane ask for one. */
function withNames(rules: unknown, path: string, notes: { path: string; note: string }[]): unknown {
  if (!Array.isArray(rules)) return rules;
  return rules.map((rule: unknown, index) => {
    if (!isFields(rule)) return rule;
    const isVisual = rule['kind'] !== 'raw';
    if (isVisual && rule['action'] === undefined)
      notes.push({
        path: `${path}/${index}`,
        note: 'has no action and blocks, as in the control plane; write "action": "log" to have it only recorded',
      });
    const isNameless = rule['name'] === undefined || rule['name'] === '';
    return isNameless ? { ...rule, name: `rule ${String(rule['id'])}` } : rule;
  });
}

const noIds: IdSources = { inText: () => [], ofCve: () => [] };

/**
 * `text`: the file's JSON. `purpose`: whoever serves by it refuses what would not be in force; whoever only compiles it
 * takes settings of any plane. `sources` knows the ids of entries that were written without one. Never throws on what a
 * person wrote.
 */
export function readLocalFile(
  text: string,
  purpose: 'serve' | 'compile' = 'serve',
  sources: IdSources = noIds,
): LocalFile {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse('', `is not JSON: ${error.message}`, 'fix the place that the message names');
  }
  if (!isFields(parsed)) return refuse('', 'is not an object', 'begin the file with { and end it with }');
  const renamed = withCurrentNames(parsed);
  const identified = withIds(renamed.value, sources);
  const notes = [...renamed.notes, ...identified.notes];
  const fields = identified.value as Readonly<Record<string, unknown>>;
  const named = { ...fields, custom_rules: withNames(fields['custom_rules'] ?? [], '/custom_rules', notes) };
  const checked = checkSettings(named);
  const foreign = purpose === 'serve' ? foreignIn(fields) : [];
  if (checked.kind === 'refused') return { kind: 'refused', problems: [...foreign, ...checked.problems] };
  const problems = [...foreign, ...withoutText(checked.settings)];
  return problems.length > 0 ? { kind: 'refused', problems } : { kind: 'fine', settings: checked.settings, notes };
}

/** What asks for something that a data plane alone cannot do; at its default a setting asks for nothing. */
function foreignIn(fields: Readonly<Record<string, unknown>>): Problem[] {
  const defaults = defaultSettings();
  const asksNothing = (name: SettingName): boolean =>
    isEmpty(fields[name]) || JSON.stringify(fields[name]) === JSON.stringify(defaults[name]);
  return Object.keys(fields)
    .filter((name) => isKnown(name) && !localNames.has(name) && !asksNothing(name))
    .map((name) => ({
      path: `/${name}`,
      reason: 'is not enforced without the control plane',
      fix: 'remove it, or start with the control plane and set it there',
    }));
}

const refuse = (path: string, reason: string, fix: string): LocalFile => ({
  kind: 'refused',
  problems: [{ path, reason, fix }],
});

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0;

/** The catalogue of virtual patches is the control plane's. */
function withoutText(settings: Settings): Problem[] {
  return settings.virtual_patches.flatMap(({ enabled, seclang }, index) =>
    enabled && seclang === ''
      ? [
          {
            path: `/virtual_patches/${index}/seclang`,
            reason: 'is missing: the catalogue is known to the control plane only',
            fix: 'give the rule here, or start with the control plane',
          },
        ]
      : [],
  );
}
