// Names that a setting had once. They are still read, each with a note, and nowhere else: behind this, everything has
// the name of the table.

export interface Renamed {
  readonly value: unknown;
  /** JSON pointer to what was read under an old name, and what to write instead. */
  readonly notes: readonly { readonly path: string; readonly note: string }[];
}

type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `value` with current names; anything that is not of the expected shape is left for the check to refuse. */
export function withCurrentNames(value: unknown): Renamed {
  if (!isFields(value)) return { value, notes: [] };
  const notes: { path: string; note: string }[] = [];
  const rename = (fields: unknown, from: string, to: string, path: string): unknown => {
    if (!isFields(fields) || !(from in fields) || to in fields) return fields;
    const { [from]: moved, ...rest } = fields;
    notes.push({ path: `${path}/${from}`, note: `is called ${to} now` });
    return { ...rest, [to]: moved };
  };
  const renamed: Record<string, unknown> = { ...value };
  const { categories, custom_rules: rules, virtual_patches: patches } = value;
  if (isFields(categories))
    renamed['categories'] = Object.fromEntries(
      Object.entries(categories).map(([key, category]) => [
        key,
        rename(category, 'excluded_paths', 'path_exclusions', `/categories/${key}`),
      ]),
    );
  if (Array.isArray(rules))
    renamed['custom_rules'] = rules.map((rule, index) =>
      withAction(withKind(rename(rule, 'text', 'seclang', `/custom_rules/${index}`)), `/custom_rules/${index}`, notes),
    );
  if (Array.isArray(patches))
    renamed['virtual_patches'] = patches.map((patch, index) =>
      rename(patch, 'text', 'seclang', `/virtual_patches/${index}`),
    );
  const { rl_trusted_proxies: proxies } = value;
  if (typeof proxies === 'string') {
    renamed['rl_trusted_proxies'] = proxies.split(/[\s,]+/).filter((part) => part !== '');
    notes.push({ path: '/rl_trusted_proxies', note: 'is a list now, such as ["10.0.0.0/8"]' });
  }
  return { value: renamed, notes };
}

/** A rule that has its text and does not say what it is, is a raw one. */
function withKind(rule: unknown): unknown {
  const isRaw =
    isFields(rule) && rule['kind'] === undefined && typeof rule['seclang'] === 'string' && rule['seclang'] !== '';
  return isRaw ? { ...rule, kind: 'raw' } : rule;
}

/** What ModSecurity calls them; both are accepted wherever an action is, and shown under one name. */
const actionNames: Readonly<Record<string, string>> = { deny: 'block', pass: 'log' };

function withAction(rule: unknown, path: string, notes: { path: string; note: string }[]): unknown {
  const action = isFields(rule) && rule['kind'] !== 'raw' ? actionNames[String(rule['action'])] : undefined;
  if (!isFields(rule) || action === undefined) return rule;
  notes.push({ path: `${path}/action`, note: `is called ${action} now` });
  return { ...rule, action };
}
