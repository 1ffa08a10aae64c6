// Untrusted JSON → WafSettings, every problem with its JSON pointer. Fields of other sections are not ours and are left
// alone.
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import {
  categoryKeys,
  customActions,
  defaultWafSettings,
  ruleIdRanges,
  type CategoryKey,
  type CategorySettings,
  type CustomRule,
  type VirtualPatch,
  type WafSettings,
} from './settings.js';

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A name as a part of a JSON pointer. */
function pointerToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const categoryMembers = ['enabled', 'excluded_paths'];
const ruleHeadMembers = ['id', 'name', 'enabled'];
const rawRuleMembers = [...ruleHeadMembers, 'kind', 'text'];
const visualRuleMembers = [
  ...ruleHeadMembers,
  'kind',
  'variable',
  'operator',
  'value',
  'action',
  'phase',
  'transformations',
  'redirect_url',
];
const rulesCountMax = 5000;
const textBytesMax = 65_536;

class Validator {
  constructor(private readonly diagnostics: Diagnostics) {}

  fail<T>(path: string, message: string, fallback: T): T {
    this.diagnostics.reportSetting('GH-C7001', message, path);
    return fallback;
  }

  /** A member that is not read would be a wish that nobody hears. */
  members(value: Json, known: readonly string[], path: string): void {
    for (const name of Object.keys(value))
      if (!known.includes(name))
        this.diagnostics.reportSetting(
          'GH-C7002',
          `there is no "${name.slice(0, 40)}" here; there are ${known.join(', ')}`,
          `${path}/${pointerToken(name)}`,
        );
  }

  choice<T extends string | number | boolean>(value: unknown, path: string, choices: readonly T[], fallback: T): T {
    if (value === undefined) return fallback;
    const found = choices.find((one) => one === value);
    return found ?? this.fail(path, `must be one of ${choices.join(', ')}`, fallback);
  }

  flag(value: unknown, path: string, fallback: boolean): boolean {
    return value === undefined
      ? fallback
      : typeof value === 'boolean'
        ? value
        : this.fail(path, 'must be true or false', fallback);
  }

  integer(value: unknown, path: string, min: number, max: number, fallback: number): number {
    if (value === undefined) return fallback;
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : this.fail(path, `must be a whole number from ${min} to ${max}`, fallback);
  }

  text(value: unknown, path: string, fallback: string | null, lengthMax = textBytesMax): string {
    if (value === undefined && fallback !== null) return fallback;
    if (typeof value !== 'string') return this.fail(path, 'must be text', '');
    return value.length <= lengthMax ? value : this.fail(path, `must not be longer than ${lengthMax} characters`, '');
  }

  list<T>(
    value: unknown,
    path: string,
    fallback: readonly T[],
    each: (item: unknown, path: string) => T | null,
  ): readonly T[] {
    if (value === undefined) return fallback;
    if (!Array.isArray(value)) return this.fail(path, 'must be a list', fallback);
    if (value.length > rulesCountMax)
      return this.fail(path, `must not have more than ${rulesCountMax} entries`, fallback);
    return value.flatMap((item, index) => {
      const made = each(item, `${path}/${index}`);
      return made === null ? [] : [made];
    });
  }

  words(value: unknown, path: string, fallback: readonly string[], pattern: RegExp, what: string): readonly string[] {
    return this.list(value, path, fallback, (item, at) =>
      typeof item === 'string' && pattern.test(item) ? item : this.fail(at, `must be ${what}`, null),
    );
  }

  categories(value: unknown): WafSettings['categories'] {
    const result: Record<CategoryKey, CategorySettings> = { ...defaultWafSettings.categories };
    if (value === undefined) return result;
    if (!isObject(value)) return this.fail('/categories', 'must be an object', result);
    for (const [name, entry] of Object.entries(value)) {
      const path = `/categories/${pointerToken(name)}`;
      const key = categoryKeys.find((one) => one === name);
      if (key === undefined) {
        this.diagnostics.reportSetting(
          'GH-C7002',
          `there is no category "${name.slice(0, 40)}"; there are ${categoryKeys.join(', ')}`,
          path,
        );
        continue;
      }
      if (!isObject(entry)) {
        this.fail(path, 'must be an object', null);
        continue;
      }
      this.members(entry, categoryMembers, path);
      result[key] = {
        enabled: this.flag(entry['enabled'], `${path}/enabled`, true),
        excluded_paths: this.words(
          entry['excluded_paths'],
          `${path}/excluded_paths`,
          [],
          pathPattern,
          'a path that begins with "/", without "?", "#", backslashes and control characters, and without segments that are empty, "." or ".."',
        ),
      };
    }
    return result;
  }

  customRule(value: unknown, path: string, ids: Set<number>): CustomRule | null {
    if (!isObject(value)) return this.fail(path, 'must be an object', null);
    const head = this.ruleHead(value, path, ruleIdRanges.custom, ids);
    const kind = value['kind'] ?? (typeof value['text'] === 'string' ? 'raw' : 'visual');
    if (kind !== 'visual' && kind !== 'raw') return this.fail(`${path}/kind`, 'must be visual or raw', null);
    this.members(value, kind === 'raw' ? rawRuleMembers : visualRuleMembers, path);
    if (kind === 'raw') return { kind, ...head, text: this.text(value['text'], `${path}/text`, null) };
    return {
      kind,
      ...head,
      variable: this.text(value['variable'], `${path}/variable`, null, 1000),
      operator: this.text(value['operator'], `${path}/operator`, null, 40),
      value: this.text(value['value'], `${path}/value`, ''),
      action: this.choice(value['action'], `${path}/action`, customActions, 'log'),
      phase: this.choice(value['phase'], `${path}/phase`, [1, 2, 3, 4, 5] as const, 2),
      transformations: this.words(
        value['transformations'],
        `${path}/transformations`,
        [],
        /^[A-Za-z0-9_]{1,40}$/,
        'the name of a transformation',
      ),
      redirect_url: this.text(value['redirect_url'], `${path}/redirect_url`, '', 2000),
    };
  }

  virtualPatch(value: unknown, path: string, ids: Set<number>): VirtualPatch | null {
    if (!isObject(value)) return this.fail(path, 'must be an object', null);
    this.members(value, [...ruleHeadMembers, 'text'], path);
    return {
      ...this.ruleHead(value, path, ruleIdRanges.virtualPatches, ids),
      text: this.text(value['text'], `${path}/text`, null),
    };
  }

  private ruleHead(
    value: Json,
    path: string,
    [from, to]: readonly [number, number],
    ids: Set<number>,
  ): { id: number; name: string; enabled: boolean } {
    const id =
      value['id'] === undefined
        ? this.fail(`${path}/id`, 'is missing', from)
        : this.integer(value['id'], `${path}/id`, from, to, from);
    if (ids.has(id)) this.fail(`${path}/id`, `${id} is used twice`, null);
    ids.add(id);
    return {
      id,
      name: this.text(value['name'], `${path}/name`, '', 200),
      enabled: this.flag(value['enabled'], `${path}/enabled`, true),
    };
  }
}

/** What normalisation takes away (`//`, `/./`, a backslash) would never be met. */
const pathPattern = /^\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!.*\/\/+[^/])[^?#\\\x00-\x1f\x7f]{0,1023}$/;
const mediaTypePattern = /^[A-Za-z0-9!#$&^_.+-]{1,100}\/[A-Za-z0-9!#$&^_.+-]{1,100}$/;

/** Fills in defaults and reports what cannot be used; the result is only meaningful when nothing was reported. */
export function validateWafSettings(value: unknown, diagnostics: Diagnostics): WafSettings {
  const check = new Validator(diagnostics);
  const initial = defaultWafSettings;
  if (!isObject(value)) return check.fail('', 'the settings must be an object', initial);
  const ids = new Set<number>();
  return {
    mode: check.choice(value['mode'], '/mode', ['On', 'DetectionOnly'] as const, initial.mode),
    paranoia_level: check.choice(
      value['paranoia_level'],
      '/paranoia_level',
      [1, 2, 3, 4] as const,
      initial.paranoia_level,
    ),
    inbound_threshold: check.integer(
      value['inbound_threshold'],
      '/inbound_threshold',
      1,
      1_000_000,
      initial.inbound_threshold,
    ),
    outbound_threshold: check.integer(
      value['outbound_threshold'],
      '/outbound_threshold',
      1,
      1_000_000,
      initial.outbound_threshold,
    ),
    categories: check.categories(value['categories']),
    custom_rules: check.list(value['custom_rules'], '/custom_rules', [], (item, path) =>
      check.customRule(item, path, ids),
    ),
    virtual_patches: check.list(value['virtual_patches'], '/virtual_patches', [], (item, path) =>
      check.virtualPatch(item, path, ids),
    ),
    allowed_methods: check.words(
      value['allowed_methods'],
      '/allowed_methods',
      initial.allowed_methods,
      /^[A-Z][A-Z0-9_-]{0,31}$/,
      'a method in capitals',
    ),
    allowed_content_types: check.words(
      value['allowed_content_types'],
      '/allowed_content_types',
      initial.allowed_content_types,
      mediaTypePattern,
      'a media type without parameters',
    ),
    early_blocking: check.flag(value['early_blocking'], '/early_blocking', initial.early_blocking),
    request_body_limit_bytes: check.integer(
      value['request_body_limit_bytes'],
      '/request_body_limit_bytes',
      1024,
      2 ** 30,
      initial.request_body_limit_bytes,
    ),
    request_body_no_files_limit_bytes: check.integer(
      value['request_body_no_files_limit_bytes'],
      '/request_body_no_files_limit_bytes',
      1024,
      2 ** 30,
      initial.request_body_no_files_limit_bytes,
    ),
    response_body_limit_bytes: check.integer(
      value['response_body_limit_bytes'],
      '/response_body_limit_bytes',
      0,
      2 ** 30,
      initial.response_body_limit_bytes,
    ),
    response_body_types: check.words(
      value['response_body_types'],
      '/response_body_types',
      initial.response_body_types,
      mediaTypePattern,
      'a media type without parameters',
    ),
  };
}
