// The settings and the compiler call some things by other names; here is the one place that knows both.
import type { WafSettings } from '#compiler';
import type { Settings } from '#settings';

type CompilerRule = WafSettings['custom_rules'][number];

const actions = {
  block: 'block',
  deny: 'block',
  drop: 'drop',
  redirect: 'redirect',
  allow: 'allow',
  log: 'log',
  pass: 'log',
} as const;

/** A custom rule of the settings in the compiler's words. */
export function toCompilerRule(rule: Settings['custom_rules'][number]): CompilerRule {
  const head = { id: rule.id, name: rule.name, enabled: rule.enabled };
  if (rule.kind === 'raw') return { kind: 'raw', ...head, text: rule.seclang };
  return {
    kind: 'visual',
    ...head,
    variable: rule.variable,
    operator: rule.operator,
    value: rule.value,
    action: actions[rule.action],
    phase: rule.phase as 1 | 2 | 3 | 4 | 5,
    transformations: rule.transformations,
    redirect_url: rule.redirect_url,
  };
}

/** The compiler's pointer, in the names of our settings. */
export function toSettingsPointer(path: string): string {
  return path
    .replace(/^(\/custom_rules\/\d+)\/text$/, '$1/seclang')
    .replace(/^(\/virtual_patches\/\d+)\/text$/, '$1/cve')
    .replace(/^(\/categories\/[^/]+)\/excluded_paths/, '$1/path_exclusions');
}
