// Section "WAF and rules" of the settings, with the specification's field names. Fields it leaves open are marked
// (ours).

export const categoryKeys = [
  'sqli',
  'xss',
  'rce',
  'php',
  'java',
  'generic',
  'lfi',
  'rfi',
  'protocol',
  'method',
  'scanner',
  'fixation',
  'dataleak',
] as const;
export type CategoryKey = (typeof categoryKeys)[number];

export interface CategorySettings {
  readonly enabled: boolean;
  /** Paths on which the category's rules do not run: `/api` covers `/api` and `/api/…`, `*` stands for one segment. */
  readonly excluded_paths: readonly string[];
}

/** (ours) What a custom rule does when it matches: block = deny 403, log = record and go on. */
export const customActions = ['block', 'drop', 'log', 'allow', 'redirect'] as const;
export type CustomAction = (typeof customActions)[number];

interface CustomRuleHead {
  /** From 1000000 to 1005999; also what the rule's events carry. */
  readonly id: number;
  /** (ours) For people; becomes the message of the event. */
  readonly name: string;
  /** Disabled rules are kept in the settings and not rendered. */
  readonly enabled: boolean;
}
export interface VisualRule extends CustomRuleHead {
  readonly kind: 'visual';
  /** `ARGS`, `REQUEST_HEADERS:User-Agent`, `&ARGS`; several joined by `|`. */
  readonly variable: string;
  /** `contains`, `rx`, … with or without `@`; `!` in front negates. */
  readonly operator: string;
  readonly value: string;
  readonly action: CustomAction;
  readonly phase: 1 | 2 | 3 | 4 | 5;
  /** (ours) Transformations in order. */
  readonly transformations: readonly string[];
  /** (ours) Target of `redirect`; '' otherwise. */
  readonly redirect_url: string;
}
export interface RawRule extends CustomRuleHead {
  readonly kind: 'raw';
  /** SecRule, SecAction, SecMarker and SecRuleUpdate…/Remove… only. */
  readonly text: string;
}
export type CustomRule = VisualRule | RawRule;

export interface VirtualPatch {
  /** 1007000 to 1007999. */
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly text: string;
}

export interface WafSettings {
  readonly mode: 'On' | 'DetectionOnly';
  readonly paranoia_level: 1 | 2 | 3 | 4;
  readonly inbound_threshold: number;
  readonly outbound_threshold: number;
  readonly categories: Readonly<Record<CategoryKey, CategorySettings>>;
  readonly custom_rules: readonly CustomRule[];
  readonly virtual_patches: readonly VirtualPatch[];
  /** (ours) Methods that reach the application. The CRS default leaves out PUT, PATCH and DELETE; an API needs them. */
  readonly allowed_methods: readonly string[];
  /** (ours) Request media types, without parameters. */
  readonly allowed_content_types: readonly string[];
  /** (ours) Block at the end of phase 1 and 3 already. */
  readonly early_blocking: boolean;
  /** (ours) Larger request bodies are refused with 413. */
  readonly request_body_limit_bytes: number;
  /** (ours) The same without uploaded files. */
  readonly request_body_no_files_limit_bytes: number;
  /** (ours) Responses are inspected up to this many bytes; 0 switches response bodies off. */
  readonly response_body_limit_bytes: number;
  /** (ours) Media types of responses whose body is inspected. */
  readonly response_body_types: readonly string[];
}

/** Who owns which ids. */
export const ruleIdRanges = {
  custom: [1_000_000, 1_005_999],
  threatIntelligence: [1_006_000, 1_006_999],
  virtualPatches: [1_007_000, 1_007_999],
  categoryExclusions: [1_009_000, 1_009_499],
  ruleExclusions: [1_009_500, 1_009_999],
  endpointAuthorisation: [1_010_000, 1_019_999],
} as const satisfies Record<string, readonly [number, number]>;

const everyCategory = Object.fromEntries(
  categoryKeys.map((key) => [key, { enabled: true, excluded_paths: [] }]),
) as unknown as Record<CategoryKey, CategorySettings>;

export const defaultWafSettings: WafSettings = {
  mode: 'On',
  paranoia_level: 1,
  inbound_threshold: 5,
  outbound_threshold: 4,
  categories: everyCategory,
  custom_rules: [],
  virtual_patches: [],
  allowed_methods: ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'],
  allowed_content_types: [
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/xml',
    'application/xml',
    'application/soap+xml',
    'application/json',
    'application/problem+json',
    'application/ld+json',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/graphql',
    'application/x-ndjson',
    'application/csp-report',
    'application/reports+json',
    'application/cloudevents+json',
  ], // prettier-ignore
  early_blocking: false,
  request_body_limit_bytes: 13_107_200,
  request_body_no_files_limit_bytes: 1_048_576,
  response_body_limit_bytes: 1_048_576,
  response_body_types: ['text/plain', 'text/html', 'text/xml', 'application/json', 'application/xml'],
};

/** The CRS tags of each category ; compared whole, never as prefixes. */
export const categoryTags: Readonly<Record<CategoryKey, readonly string[]>> = {
  sqli: ['OWASP_CRS/ATTACK-SQLI'],
  xss: ['OWASP_CRS/ATTACK-XSS'],
  rce: ['OWASP_CRS/ATTACK-RCE', 'OWASP_CRS/WEB-SHELLS'],
  php: ['OWASP_CRS/ATTACK-PHP'],
  java: ['OWASP_CRS/ATTACK-JAVA'],
  generic: ['OWASP_CRS/ATTACK-GENERIC'],
  lfi: ['OWASP_CRS/ATTACK-LFI'],
  rfi: ['OWASP_CRS/ATTACK-RFI'],
  protocol: ['OWASP_CRS/PROTOCOL-ENFORCEMENT', 'OWASP_CRS/PROTOCOL-ATTACK', 'OWASP_CRS/MULTIPART-ATTACK'],
  method: ['OWASP_CRS/METHOD-ENFORCEMENT'],
  scanner: ['OWASP_CRS/SCANNER-DETECTION'],
  fixation: ['OWASP_CRS/ATTACK-SESSION-FIXATION'],
  dataleak: [
    'OWASP_CRS/DATA-LEAKAGES',
    'OWASP_CRS/DATA-LEAKAGES-SQL',
    'OWASP_CRS/DATA-LEAKAGES-JAVA',
    'OWASP_CRS/DATA-LEAKAGES-PHP',
    'OWASP_CRS/DATA-LEAKAGES-IIS',
    'OWASP_CRS/DATA-LEAKAGES-RUBY',
  ],
};
