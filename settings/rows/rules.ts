// Section "WAF and rules": what becomes rules.
import { Type } from '@sinclair/typebox';
import { Choice, closed, Flag, Line, MediaType, Method, OrNull, Path, setting, Shaped, Text, Whole } from '../row.js';
import { categoryKeys, ruleIdRanges, type CategoryKey } from './categories.js';
import { RuleConditions } from './rule-conditions.js';
import {
  AllowedContentTypes,
  AllowedMethods,
  RestrictedExtensions,
  RestrictedHeaders,
  usualContentTypes,
  usualRestrictedHeaders,
} from './http-policy.js';

/** The ranges are kept apart, so that an id says whose rule it is (`ownerOfRuleId`). */
const RuleId = ([minimum, maximum]: readonly [number, number], whose: string) =>
  Type.Integer({
    minimum,
    maximum,
    'x-fix':
      `${whose} have ids from ${minimum} to ${maximum}, because an id says whose rule it is: 1000000 custom rules, ` +
      '1006000 the deny list, 1007000 virtual patches, 1009000 path exclusions of categories, 1009500 exclusions of ' +
      'single rules, 1010000 authorisation of endpoints',
  });

const Category = () =>
  Type.Object(
    {
      enabled: Flag(true),
      path_exclusions: Type.Array(Path(), {
        maxItems: 200,
        default: [],
        uniqueItems: true,
        description: 'paths where the category is off: `/api` covers `/api` and `/api/…`, `*` stands for one segment',
      }),
    },
    { ...closed, default: {} },
  );

const categories = Object.fromEntries(categoryKeys.map((key) => [key, Category()])) as Record<
  CategoryKey,
  ReturnType<typeof Category>
>;

/** A request a rule carries as its own proof; a rule cannot be applied while one of them fails. */
export const RuleTest = Type.Object(
  {
    name: Line(200),
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

/** The sites that a rule is for. */
const SiteNames = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    default: [],
    uniqueItems: true,
    description,
  });

/** `deny` is another word for `block`, `pass` for `log`. */
const ruleActions = ['block', 'deny', 'drop', 'redirect', 'allow', 'log', 'pass'] as const;

/** id, name and state of all kinds; `visual` uses the parts, `conditions` the groups, `raw` the text. */
export const CustomRule = Type.Object(
  {
    id: RuleId(ruleIdRanges.custom, 'custom rules'),
    name: Type.String({ minLength: 1, maxLength: 200 }),
    enabled: Flag(true),
    kind: {
      ...Choice(['visual', 'conditions', 'raw'], 'visual'),
      description:
        '`visual`: one comparison, of the fields below; `conditions`: groups of conditions in `any`; ' +
        '`raw`: the rule text in `seclang`',
    },
    variable: Text(1000, { description: '`visual`: what is looked at, such as `ARGS:q` or `REQUEST_FILENAME|ARGS`' }),
    operator: Text(100, {
      description: '`visual`: an operator without `@`, such as `contains`; `!contains` negates it',
    }),
    value: Text(65_536, { description: '`visual`: what the operator compares with' }),
    any: RuleConditions,
    action: { ...Choice(ruleActions, 'block'), description: '`visual`, `conditions`: what a match does' },
    phase: {
      ...Whole(1, 5, 2),
      description: '`visual`: 1 request head, 2 its body, 3 head of the answer, 4 its body, 5 logging',
    },
    transformations: Type.Array(Shaped('^[A-Za-z0-9_]{1,40}$', 'write the name of a transformation'), {
      maxItems: 20,
      default: [],
    }),
    redirect_url: Line(2000, { description: 'where `redirect` leads' }),
    seclang: Text(65_536, { description: '`raw`: rules in the language of ModSecurity, each with an id of its range' }),
    sites: SiteNames('names of the sites it is for; empty: all'),
    tests: Type.Array(RuleTest, { maxItems: 50, default: [] }),
  },
  closed,
);

const VirtualPatch = Type.Object(
  {
    id: RuleId(ruleIdRanges.virtualPatches, 'virtual patches'),
    cve: Shaped('^(CVE-[0-9]{4}-[0-9]{4,7})?$', 'write it as CVE-2021-44228', { default: '' }),
    name: Line(200),
    enabled: Flag(true),
    seclang: Text(65_536, { description: 'the rule; empty takes the one that the catalogue has for the CVE' }),
    sites: SiteNames('names of the sites it is for; empty: all'),
  },
  closed,
);

/** A scoped, owned, expiring exclusion: one rule (or tag), optionally one variable, method and path. */
const RuleExclusion = Type.Object(
  {
    id: RuleId(ruleIdRanges.ruleExclusions, 'exclusions of single rules'),
    rule_id: OrNull(Type.Integer({ minimum: 1, maximum: 99_999_999 }), 'the rule that is left out; this or `tag`'),
    tag: OrNull(Type.String({ minLength: 1, maxLength: 200 }), 'all rules with this tag are left out'),
    target: OrNull(Type.String({ minLength: 1, maxLength: 300 }), 'such as ARGS:comment; null excludes the whole rule'),
    path: OrNull(Path(), 'under which path; null: everywhere'),
    method: OrNull(Method(), 'for which method; null: all'),
    sites: SiteNames('names of the sites it is for; empty: all'),
    reason: Text(1000),
    owner: Line(254),
    expires_at: OrNull(
      Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' }),
      'UTC; null never expires',
    ),
    enabled: Flag(true),
  },
  closed,
);

const engineConfig = 'compiler/policy/engine-config.ts';
const operator = (enforcedBy: string, description: string, unit?: string) => ({
  access: 'operator' as const,
  reach: ['rules'] as const,
  enforcedBy,
  description,
  ...(unit === undefined ? {} : { unit }),
});

export const ruleRows = {
  mode: setting(Choice(['On', 'DetectionOnly'], 'On'), {
    access: 'operator',
    reach: ['rules', 'data'],
    enforcedBy: engineConfig,
    description: 'On blocks; DetectionOnly logs only',
  }),
  second_opinion: setting(Choice(['off', 'monitor', 'enforce'], 'off'), {
    access: 'operator',
    reach: ['rules', 'data'],
    enforcedBy: 'proxy/road/route.ts',
    description:
      'a second look at what rules matched: monitor notes in the event what it would have done; enforce lets ' +
      'requests through that only weak rules without any sign of an attack would block, and denies with rule 1006610 ' +
      'what signs support although its score is below the threshold; new installations begin with enforce',
    initially: 'enforce',
  }),
  paranoia_level: setting(
    Whole(1, 4, 1),
    operator(engineConfig, 'CRS paranoia level; higher finds more and is wrong more often'),
  ),
  inbound_threshold: setting(
    Whole(1, 1_000_000, 5),
    operator(engineConfig, 'anomaly score at which a request is blocked', 'points'),
  ),
  outbound_threshold: setting(
    Whole(1, 1_000_000, 4),
    operator(engineConfig, 'anomaly score at which a response is blocked', 'points'),
  ),
  categories: setting(
    Type.Object(categories, { ...closed, default: {} }),
    operator('compiler/policy/exclusions.ts', 'the CRS categories: on or off, and where they are off'),
  ),
  custom_rules: setting(
    Type.Array(CustomRule, { maxItems: 2000, default: [] }),
    operator(
      'compiler/policy/custom-rules.ts',
      'rules of your own, ids from 1000000 to 1005999; disabled ones are kept and not loaded',
    ),
  ),
  virtual_patches: setting(
    Type.Array(VirtualPatch, { maxItems: 1000, default: [] }),
    operator('compiler/policy/custom-rules.ts', 'virtual patches of the catalogue, ids from 1007000 to 1007999'),
  ),
  rule_exclusions: setting(
    Type.Array(RuleExclusion, { maxItems: 500, default: [] }),
    operator('compiler/policy/rule-exclusions.ts', 'scoped exclusions of single rules, ids from 1009500 to 1009999'),
  ),
  allowed_methods: setting(
    { ...AllowedMethods(), default: ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'] },
    operator(engineConfig, 'methods that reach the application; the CRS alone leaves out PUT, PATCH and DELETE'),
  ),
  allowed_content_types: setting(
    { ...AllowedContentTypes(), default: usualContentTypes },
    operator(
      engineConfig,
      'media types of request bodies, without parameters. Bodies of types that have no parser of their own are read ' +
        'as text where they are text, and as JSON where they look like it',
    ),
  ),
  restricted_headers: setting(
    { ...RestrictedHeaders(), default: usualRestrictedHeaders },
    operator(
      engineConfig,
      'request fields that are refused. Left out against the CRS alone: content-encoding, since coded bodies are ' +
        'decoded for inspection, and expect, since 100-continue is answered; list them to refuse them',
    ),
  ),
  restricted_extensions: setting(
    OrNull(RestrictedExtensions()),
    operator(engineConfig, 'file extensions that are refused in paths; null leaves it to the list of the CRS'),
  ),
  early_blocking: setting(Flag(false), operator(engineConfig, 'block at the end of phases 1 and 3 already')),
  request_body_limit_bytes: setting(
    Whole(1024, 2 ** 30, 13_107_200),
    operator(engineConfig, 'larger request bodies are refused with 413', 'bytes'),
  ),
  request_body_no_files_limit_bytes: setting(
    Whole(1024, 2 ** 30, 1_048_576),
    operator(engineConfig, 'the same without uploaded files', 'bytes'),
  ),
  xml_external_references: setting(
    Choice(['refuse', 'allow'], 'refuse'),
    operator(
      engineConfig,
      'XML bodies that refer to what lies outside of them (external DTD or entity, parameter entity, XInclude, ' +
        'schema location with a scheme or root, style sheet): refused with 400, or allowed',
    ),
  ),
  response_body_limit_bytes: setting(
    Whole(0, 2 ** 30, 1_048_576),
    operator(engineConfig, 'responses are inspected up to this size; 0 leaves their bodies alone', 'bytes'),
  ),
  response_body_types: setting(
    Type.Array(MediaType(), {
      maxItems: 100,
      uniqueItems: true,
      default: ['text/plain', 'text/html', 'text/xml', 'application/json', 'application/xml'],
    }),
    operator(engineConfig, 'media types of responses whose body is inspected'),
  ),
};
