// The local settings file of a data plane without a control plane → the first settings of a new installation. Taken
// over
// once: from then on the database is what counts. What the control plane has no field for is refused by name, because
// leaving it out would change how traffic is handled without anybody having said so.
import type { ProblemField } from '../http-kit/problem.js';
import { checkSettings, type Checked } from './validate.js';

type Fields = Record<string, unknown>;

const takenOver = [
  'mode',
  'paranoia_level',
  'inbound_threshold',
  'outbound_threshold',
  'categories',
  'custom_rules',
  'sites',
  'rl_trust_proxy',
  'rl_trusted_proxies',
  'limits',
  'timeouts',
  'accept_request_id',
  'audit_request_body_bytes_max',
  'replay_sampling',
  'privacy_mode',
] as const;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members with another name here; what is not an object is left for the check to refuse. */
function rename(value: unknown, from: string, to: string): unknown {
  if (!isFields(value) || !(from in value)) return value;
  const { [from]: moved, ...rest } = value;
  return { ...rest, [to]: moved };
}

function customRule(rule: unknown): unknown {
  if (!isFields(rule)) return rule;
  const { transformations, redirect_url, ...rest } = rename(rule, 'text', 'seclang') as Fields;
  // what the file leaves out has other defaults there
  const absent: Fields = typeof rest['seclang'] === 'string' ? { kind: 'raw' } : { action: 'log' };
  const kept: Fields = {
    ...absent,
    ...rest,
    name: rest['name'] === undefined || rest['name'] === '' ? `rule ${String(rest['id'])}` : rest['name'],
  };
  // the visual form here has neither; one that is in use is refused as unknown instead of being dropped
  if (Array.isArray(transformations) && transformations.length > 0) kept['transformations'] = transformations;
  if (redirect_url !== undefined && redirect_url !== '') kept['redirect_url'] = redirect_url;
  return kept;
}

/** `text`: the file's JSON. Paths of the problems are those of the settings. */
export function readSettingsFile(text: string): Checked {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { kind: 'refused', stage: 'schema', problems: [{ path: '', reason: `is not JSON: ${error.message}` }] };
  }
  if (!isFields(file))
    return { kind: 'refused', stage: 'schema', problems: [{ path: '', reason: 'is not an object' }] };
  const names: readonly string[] = takenOver;
  const isEmpty = (value: unknown): boolean =>
    Array.isArray(value) ? value.length === 0 : isFields(value) && Object.keys(value).length === 0;
  const problems: ProblemField[] = Object.entries(file)
    .filter(([name, value]) => !names.includes(name) && !isEmpty(value))
    .map(([name]) => ({ path: `/${name}`, reason: 'has no counterpart in the settings of the control plane' }));
  if (problems.length > 0) return { kind: 'refused', stage: 'schema', problems };
  const {
    categories,
    custom_rules: rules,
    ...rest
  } = Object.fromEntries(names.filter((name) => name in file).map((name) => [name, file[name]]));
  return checkSettings({
    ...rest,
    ...(isFields(categories)
      ? {
          categories: Object.fromEntries(
            Object.entries(categories).map(([key, category]) => [
              key,
              rename(category, 'excluded_paths', 'path_exclusions'),
            ]),
          ),
        }
      : categories === undefined
        ? {}
        : { categories }),
    ...(Array.isArray(rules)
      ? { custom_rules: rules.map(customRule) }
      : rules === undefined
        ? {}
        : { custom_rules: rules }),
  });
}
