// The engine's own configuration and the set-up of the CRS, as rule text. Ids 200000–200007 are those that
// ModSecurity's users know for these checks, 200008 to 200011 are ours, 900xxx those of the CRS set-up file.
import { usualContentTypes, type RuleSettings, type SitePolicy } from '#settings';

const multipartFlags: readonly (readonly [string, string])[] = [
  ['PE', 'REQBODY_PROCESSOR_ERROR'],
  ['BQ', 'MULTIPART_BOUNDARY_QUOTED'],
  ['BW', 'MULTIPART_BOUNDARY_WHITESPACE'],
  ['DB', 'MULTIPART_DATA_BEFORE'],
  ['DA', 'MULTIPART_DATA_AFTER'],
  ['HF', 'MULTIPART_HEADER_FOLDING'],
  ['LF', 'MULTIPART_LF_LINE'],
  ['SM', 'MULTIPART_MISSING_SEMICOLON'],
  ['IQ', 'MULTIPART_INVALID_QUOTING'],
  ['IP', 'MULTIPART_INVALID_PART'],
  ['IH', 'MULTIPART_INVALID_HEADER_FOLDING'],
  ['FL', 'MULTIPART_FILE_LIMIT_EXCEEDED'],
];

const argumentsMax = 1000;
const jsonDepthMax = 512;
const uploadFilesMax = 100;

/** A request whose body cannot be inspected ends here: the actions of such a rule, quoted. */
function refusal(id: number, message: string, logdata: string | null = null): string {
  const shown = logdata === null ? '' : `,logdata:'${logdata}'`;
  return `"id:${id},phase:2,deny,status:400,log,t:none,severity:CRITICAL,msg:'${message}'${shown}"`;
}

/** What a charset may look like: not written so that the CRS overlooks it, or one of those that it allows. */
const readableCharset =
  'charset\\s*=|(?i)charset\\s*=[\\s\\"\']*(?:utf-?8|us-ascii|iso-8859-15?|windows-1252)(?:[;\\s\\"\']|$)';

/** Types that have a parser: those of engine/transaction/begin.ts, and those of rules 200000 and 200001. */
const parsedTypes =
  '^(?:multipart/form-data|text/xml|application/(?:x-www-form-urlencoded|csp-report|x-ndjson|graphql|' +
  '(?:soap\\+)?xml|(?:[a-z0-9.-]+\\+)?json))';

/** Whoever reads such a document fetches what a stranger names, from within the network that is protected. */
const externalReferences = `SecRule XML_EXTERNAL "@rx ." \\
    ${refusal(200_009, 'An XML document refers to what lies outside of it', '%{XML_EXTERNAL}')}
`;

/** What any of the policies wants of bodies of responses: the first limit that is one, and every type. */
export function responseBodiesOf(
  policies: readonly Pick<SitePolicy, 'response_body_limit_bytes' | 'response_body_types'>[],
): { readonly bytes: number; readonly types: readonly string[] } {
  const wanting = policies.filter((one) => one.response_body_limit_bytes > 0 && one.response_body_types.length > 0);
  const types = [...new Set(wanting.flatMap(({ response_body_types: of }) => of))];
  return { bytes: wanting[0]?.response_body_limit_bytes ?? 0, types };
}

function renderResponseBodies(bytes: number, types: readonly string[]): string {
  return `SecResponseBodyMimeType ${types.join(' ')}
SecResponseBodyLimit ${bytes}
SecResponseBodyLimitAction ProcessPartial
`;
}

/** Body access and limits, the body processors, and what a body that cannot be parsed means. */
export function renderEngineConfig(settings: RuleSettings, policies: readonly SitePolicy[] = []): string {
  const { bytes, types } = responseBodiesOf(policies.length === 0 ? [settings] : policies);
  const responses = bytes > 0;
  const flags = multipartFlags.map(([name, variable]) => `${name} %{${variable}}`).join(', ');
  return `# The engine. Limits are in bytes unless they count things.
SecRuleEngine ${settings.mode}
SecRequestBodyAccess On
SecRequestBodyLimit ${settings.request_body_limit_bytes}
SecRequestBodyNoFilesLimit ${settings.request_body_no_files_limit_bytes}
SecRequestBodyLimitAction Reject
SecRequestBodyJsonDepthLimit ${jsonDepthMax}
SecArgumentsLimit ${argumentsMax}
SecArgumentSeparator &
SecUploadFileLimit ${uploadFilesMax}
SecResponseBodyAccess ${responses ? 'On' : 'Off'}
${responses ? renderResponseBodies(bytes, types) : ''}SecAuditEngine RelevantOnly
SecAuditLogRelevantStatus "^(?:5|4(?:0[0-35-9]|[1-9]))"
SecAuditLogParts ABIJDEFHZ
SecUnicodeMapFile unicode.mapping 20127

# Which processor reads a body. Forms are chosen by the engine from their media type. What has no parser of its own is
# taken for text, for applications read JSON and forms whatever the type says.
SecRule REQUEST_HEADERS:Content-Type "!@rx ${parsedTypes}" \\
    "id:200010,phase:1,pass,nolog,t:none,t:lowercase,ctl:requestBodyProcessor=TEXT"
SecRule &REQUEST_HEADERS:Content-Type "@eq 0" "id:200011,phase:1,pass,nolog,t:none,chain"
    SecRule REQUEST_METHOD "!@rx ^(?:GET|HEAD|OPTIONS)$" "t:none,ctl:requestBodyProcessor=TEXT"
SecRule REQUEST_HEADERS:Content-Type "@rx ^(?:application/(?:soap\\+)?|text/)xml" \\
    "id:200000,phase:1,pass,nolog,t:none,t:lowercase,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "@rx ^application/(?:[a-z0-9.-]+\\+)?json" \\
    "id:200001,phase:1,pass,nolog,t:none,t:lowercase,ctl:requestBodyProcessor=JSON"

# The CRS judges a charset by its lower-case name (920480); Tomcat and Django take Charset=, and Django charset*=, for \
the same.
# In phase 2, like all that ends a request here: ended before the set-up below, no setvar of it would be a constant to \
fold.
SecRule REQUEST_HEADERS:Content-Type "@rx (?i)charset[\\s*]*=" \\
    "id:200008,phase:2,deny,status:400,log,t:none,severity:CRITICAL,msg:'A charset that the rules do not read',chain"
    SecRule REQUEST_HEADERS:Content-Type "!@rx ${readableCharset}" "t:none"

# A body that cannot be parsed cannot be inspected.
SecRule &ARGS "@ge ${argumentsMax}" \\
    ${refusal(200_007, 'More arguments than are inspected')}
SecRule REQBODY_ERROR "!@eq 0" \\
    ${refusal(200_002, 'The request body cannot be parsed', '%{REQBODY_ERROR_MSG}')}
SecRule MULTIPART_STRICT_ERROR "!@eq 0" \\
    ${refusal(200_003, 'The multipart body is not strictly well-formed', flags)}
SecRule MULTIPART_UNMATCHED_BOUNDARY "@eq 1" \\
    ${refusal(200_004, 'A multipart boundary does not match')}
${settings.xml_external_references === 'refuse' ? externalReferences : ''}SecRule TX:/^MSC_/ "!@streq 0" \\
    ${refusal(200_005, 'An internal limit of the engine was reached', '%{MATCHED_VAR_NAME}')}
`;
}

/** What of the CRS an installation, or a policy of some of its sites, chooses. */
export type CrsChoices = Pick<
  SitePolicy,
  | 'paranoia_level'
  | 'inbound_threshold'
  | 'outbound_threshold'
  | 'early_blocking'
  | 'allowed_methods'
  | 'allowed_content_types'
  | 'restricted_headers'
  | 'restricted_extensions'
>;

/** Nothing that is usual was taken from the list: the second opinion may weigh other types (protocol-rules.ts). */
function isUsual(types: readonly string[]): boolean {
  const known = new Set(types.map((type) => type.toLowerCase()));
  return usualContentTypes.every((type) => known.has(type));
}

/** Rules 900xxx of the CRS's set-up file: id → the variables of TX that it sets, null = left to the CRS. */
export function crsSetupVariables(
  choices: CrsChoices,
): ReadonlyMap<number, readonly (readonly [string, string | null])[]> {
  const wrapped = (list: readonly string[], before: string, after: string): string =>
    list.map((one) => `${before}${one.toLowerCase()}${after}`).join(' ');
  const extensions = choices.restricted_extensions;
  return new Map([
    [900_000, [['blocking_paranoia_level', `${choices.paranoia_level}`]]],
    [900_001, [['detection_paranoia_level', `${choices.paranoia_level}`]]],
    [
      900_110,
      [
        ['inbound_anomaly_score_threshold', `${choices.inbound_threshold}`],
        ['outbound_anomaly_score_threshold', `${choices.outbound_threshold}`],
      ],
    ],
    [900_120, [['early_blocking', choices.early_blocking ? '1' : '0']]],
    [900_200, [['allowed_methods', choices.allowed_methods.join(' ')]]],
    [
      900_220,
      [
        ['allowed_request_content_type', wrapped(choices.allowed_content_types, '|', '|')],
        ['gatehouse_usual_types', isUsual(choices.allowed_content_types) ? '1' : '0'],
      ],
    ],
    [900_240, [['restricted_extensions', extensions === null ? null : wrapped(extensions, '', '/')]]],
    [900_250, [['restricted_headers_basic', wrapped(choices.restricted_headers, '/', '/')]]],
  ]);
}

/** `setvar` of one variable; null unsets it. */
export const setTx = ([name, value]: readonly [string, string | null]): string =>
  value === null ? `setvar:'!tx.${name}'` : `setvar:'tx.${name}=${value}'`;

/** What the CRS expects to be set before it runs: default actions, levels, thresholds, what is allowed. */
export function renderCrsSetup(settings: RuleSettings, setupVersion: number): string {
  const action = (id: number, sets: readonly (readonly [string, string | null])[]): string =>
    `SecAction \\\n    "id:${id},phase:1,pass,nolog,t:none,${sets.map(setTx).join(',')}"`;
  const chosen = [...crsSetupVariables(settings)].filter(([, sets]) => sets.every(([, value]) => value !== null));
  return `# Anomaly scoring: rules add to a score, and rules 949110 and 959100 decide.
${[1, 2, 3, 4, 5].map((phase) => `SecDefaultAction "phase:${phase},log,auditlog,pass"`).join('\n')}
${chosen.map(([id, sets]) => action(id, sets)).join('\n')}
# Attributes of XML like its text: an LTS release of the CRS looks at them only when told to.
${action(900_510, [['crs_xml_attr_inspect', '1']])}
${action(900_990, [['crs_setup_version', `${setupVersion}`]])}
`;
}
