import { Type } from '@sinclair/typebox';
import { categoryKeys, ruleIdRanges, type CategoryKey } from '#compiler';
import { Choice, closed, field, Flag, Method, Path, Text, Whole } from './field.js';

const RuleId = ([minimum, maximum]: readonly [number, number]) => Type.Integer({ minimum, maximum });

const Category = () =>
  Type.Object(
    {
      enabled: Flag(true),
      path_exclusions: Type.Array(Path(), {
        maxItems: 200,
        default: [],
        uniqueItems: true,
        description: 'path prefixes where the category is off',
      }),
    },
    { ...closed, default: {} },
  );

const categories = Object.fromEntries(categoryKeys.map((key) => [key, Category()])) as Record<
  CategoryKey,
  ReturnType<typeof Category>
>;

/** A request a rule carries as its own proof; a rule cannot be enabled while one of them fails. */
export const RuleTest = Type.Object(
  {
    name: Text(200),
    expect: Type.Unsafe<'match' | 'no_match'>({ type: 'string', enum: ['match', 'no_match'] }),
    method: Type.String({ default: 'GET', maxLength: 32, pattern: '^[A-Z][A-Z0-9_-]*$' }),
    uri: Type.String({ minLength: 1, maxLength: 8192, default: '/' }),
    headers: Type.Array(Type.Tuple([Type.String({ minLength: 1, maxLength: 256 }), Type.String({ maxLength: 8192 })]), {
      maxItems: 64,
      default: [],
    }),
    body: Text(65_536),
  },
  closed,
);

/** id, name and state of both kinds; `visual` uses the five parts, `raw` the text. */
export const CustomRule = Type.Object(
  {
    id: RuleId(ruleIdRanges.custom),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    enabled: Flag(true),
    kind: Choice(['visual', 'raw'], 'visual'),
    variable: Text(500),
    operator: Text(100),
    value: Text(8192),
    action: Choice(['block', 'deny', 'allow', 'log', 'pass'], 'block'),
    phase: Whole(1, 5, 2),
    seclang: Text(65_536),
    tests: Type.Array(RuleTest, { maxItems: 50, default: [] }),
  },
  closed,
);

const VirtualPatch = Type.Object(
  {
    id: RuleId(ruleIdRanges.virtualPatches),
    cve: Type.String({ pattern: '^CVE-[0-9]{4}-[0-9]{4,7}$' }),
    enabled: Flag(true),
  },
  closed,
);

/** A scoped, owned, expiring exclusion: one rule (or tag), optionally one variable, method and path. */
const RuleExclusion = Type.Object(
  {
    id: RuleId(ruleIdRanges.ruleExclusions),
    rule_id: Type.Union([Type.Integer({ minimum: 1, maximum: 99_999_999 }), Type.Null()], { default: null }),
    tag: Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Null()], { default: null }),
    target: Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Null()], {
      default: null,
      description: 'such as ARGS:comment; null excludes the whole rule',
    }),
    path: Type.Union([Path(), Type.Null()], { default: null }),
    method: Type.Union([Method(), Type.Null()], { default: null }),
    reason: Text(1000),
    owner: Text(254),
    expires_at: Type.Union(
      [Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' }), Type.Null()],
      { default: null, description: 'UTC; null never expires' },
    ),
    enabled: Flag(true),
  },
  closed,
);

export const wafFields = {
  mode: field(Choice(['On', 'DetectionOnly'], 'On'), 'operator', 'On blocks; DetectionOnly logs only'),
  paranoia_level: field(Whole(1, 4, 1), 'operator', 'CRS paranoia level; higher is stricter'),
  inbound_threshold: field(Whole(1, 10_000, 5), 'operator', 'anomaly score at which a request is blocked', 'points'),
  outbound_threshold: field(Whole(1, 10_000, 4), 'operator', 'anomaly score at which a response is blocked', 'points'),
  categories: field(
    Type.Object(categories, { ...closed, default: {} }),
    'operator',
    'the CRS categories: on or off, and where they are off',
  ),
  custom_rules: field(
    Type.Array(CustomRule, { maxItems: 2000, default: [] }),
    'operator',
    'rules of your own, ids from 1000000; disabled ones are kept and not loaded',
  ),
  virtual_patches: field(
    Type.Array(VirtualPatch, { maxItems: 1000, default: [] }),
    'operator',
    'virtual patches, ids 1007xxx',
  ),
  rule_exclusions: field(
    Type.Array(RuleExclusion, { maxItems: 500, default: [] }),
    'operator',
    'scoped exclusions of single rules',
  ),
};
