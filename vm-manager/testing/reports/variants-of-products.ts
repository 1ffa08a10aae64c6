// Reports of further products that did not end, that somebody has decided about, or that say the same in another way.
import type { Json } from '../import-client.js';
import {
  fvdlOf,
  fprOf,
  checkmarxOf,
  checkmarxOneOf,
  veracodeFlaw,
  veracodeOf,
  pipelineOf,
  qualysOf,
  wasOf,
  qualysHead,
  githubCode,
  dependabot,
  trackOf,
  ocsf,
  acunetixOf,
  invictiOf,
  netsparkerOf,
  assessment,
  azureHead,
  scc,
  clairOf,
  anchoreOf,
  products,
} from './further-products.js';

export { fvdlOf, products } from './further-products.js';

const xml = '<?xml version="1.0"?>\n';
export const assetsOf = (qid: string): string =>
  `${xml}<ASSET_DATA_REPORT><HOST_LIST><HOST><IP>192.0.2.8</IP><VULN_INFO_LIST><VULN_INFO>
<QID id="qid_${qid}">${qid}</QID><TYPE>Vuln</TYPE><PORT>22</PORT><PROTOCOL>tcp</PROTOCOL>
<VULN_STATUS>Active</VULN_STATUS></VULN_INFO></VULN_INFO_LIST></HOST></HOST_LIST><GLOSSARY><VULN_DETAILS_LIST>
<VULN_DETAILS id="qid_1"><QID>1</QID><TITLE>Old SSH</TITLE><SEVERITY>5</SEVERITY><THREAT>It is old.</THREAT>
<CVE_ID_LIST><CVE_ID><ID>CVE-2026-2000</ID></CVE_ID></CVE_ID_LIST></VULN_DETAILS></VULN_DETAILS_LIST></GLOSSARY>
</ASSET_DATA_REPORT>`;

/** What these products write where they did not look, or not to the end. */
export const unfinished: Readonly<Record<string, readonly [format: string, report: unknown]>> = {
  'Fortify without a file': ['fortify', fvdlOf(0, '', '')],
  'an error of Fortify': ['fortify', fprOf(fvdlOf(3, '<Error code="12003">No such file</Error>'))],
  'Checkmarx without a file': ['checkmarx', checkmarxOf(0)],
  'one page of Checkmarx One': ['checkmarx-one', checkmarxOneOf(400)],
  'Veracode before its end': ['veracode', veracodeOf('')],
  'a pipeline scan that failed': ['veracode-pipeline', pipelineOf('FAILURE')],
  'Qualys that was cancelled': ['qualys', qualysOf('CANCELED')],
  'Qualys without a host': ['qualys', qualysOf('FINISHED', '')],
  'a check that the glossary lacks': ['qualys', assetsOf('2')],
  'Qualys WAS that ended in an error': ['qualys-was', wasOf('SCAN_INTERNAL_ERROR')],
  'a table of Qualys without a row': ['qualys-csv', qualysHead],
  'no alert of GitHub': ['github', []],
  'one page of GitHub': [
    'github',
    Array.from({ length: 30 }, (_, index) => ({ ...dependabot, number: index, state: 'fixed' })),
  ],
  'nothing of Dependency-Track': ['dependency-track', trackOf([])],
  'nothing of Prowler': ['prowler-ocsf', []],
  'Acunetix without an end': ['acunetix', acunetixOf('')],
  'no site of Invicti': ['invicti', invictiOf('')],
  'no target of Netsparker': ['invicti-xml', netsparkerOf('')],
  'one page of Defender': ['azure-defender', { value: [assessment('Healthy')], nextLink: 'x' }],
  'a word that Defender has not': ['azure-defender', { value: [assessment('Odd')] }],
  'no row of Defender': ['azure-defender-csv', azureHead],
  'one page of Security Command Center': ['gcp-scc', { listFindingsResults: [scc('ACTIVE', 'f')], nextPageToken: 'x' }],
  'no row of HackerOne': ['hackerone', 'id,title,severity_rating,severity_score,state,substate,weakness'],
  'no row of Bugcrowd': ['bugcrowd', 'reference_number,title,priority'],
  'no image of Clair': ['clair', clairOf('')],
  'no image of Anchore': ['anchore', anchoreOf('')],
};

/** Version 4: what it found, the packages, and which belong together. */
export const clairManifest: Json = {
  manifest_hash: 'sha256:aa',
  packages: { '1': { id: '1', name: 'zlib', version: '1.2' } },
  vulnerabilities: {
    '9': {
      ...{ id: '9', name: 'CVE-2026-4000 on Ubuntu', description: 'd', links: 'https://a.example https://b.example' },
      ...{ severity: 'Important', normalized_severity: 'High', fixed_in_version: '1.3' },
    },
  },
  package_vulnerabilities: { '1': ['9'] },
};

const mutedScc = { ...scc('ACTIVE', 'f'), finding: { ...(scc('ACTIVE', 'f')['finding'] as Json), mute: 'MUTED' } };
const trackFinding = (trackOf()['findings'] as Json[])[0] ?? {};
/** What somebody has decided about. */
export const setAside: Readonly<Record<string, readonly [format: string, report: unknown]>> = {
  'not exploitable in Checkmarx': ['checkmarx', checkmarxOf(9, '1')],
  'an accepted mitigation of Veracode': [
    'veracode',
    veracodeOf('2026-11-02', veracodeFlaw('New').replace('"none"', '"accepted"')).replace(/<software.*analysis>/s, ''),
  ],
  'ignored in Qualys WAS': ['qualys-was', wasOf('FINISHED', 'true')],
  'a dismissed alert of GitHub': ['github', githubCode().map((one) => ({ ...one, state: 'dismissed' }))],
  'suppressed in Dependency-Track': [
    'dependency-track',
    trackOf([{ ...trackFinding, analysis: { isSuppressed: true } }]),
  ],
  'muted in Prowler': ['prowler-ocsf', [{ ...ocsf('FAIL', 'p'), status: 'Suppressed' }]],
  'muted in Security Command Center': ['gcp-scc', [mutedScc]],
};

/** Of a report the words of its severity, and others that the product does not have. */
export const oddSeverities: Readonly<Record<string, readonly [from: string, to: string]>> = {
  checkmarx: ['Severity="High"', 'Severity="Odd"'],
  'checkmarx-one': ['"severity":"HIGH"', '"severity":"ODD"'],
  veracode: [' severity="5" categoryname', ' severity="8" categoryname'],
  'veracode-pipeline': ['"severity":4', '"severity":8'],
  qualys: ['severity="3"', 'severity="8"'],
  'qualys-was': ['<SEVERITY>5', '<SEVERITY>8'],
  'qualys-csv': ['"Vuln","4"', '"Vuln","8"'],
  github: ['"security_severity_level":"critical"', '"security_severity_level":"odd"'],
  'dependency-track': ['"severity":"CRITICAL"', '"severity":"ODD"'],
  'prowler-ocsf': ['"severity":"High"', '"severity":"Odd"'],
  acunetix: ['<Severity>high', '<Severity>odd'],
  invicti: ['"Severity":"Critical"', '"Severity":"Odd"'],
  'invicti-xml': ['<severity>Low', '<severity>Odd'],
  'azure-defender': ['"severity":"High"', '"severity":"Odd"'],
  'azure-defender-csv': [',High,', ',Odd,'],
  'gcp-scc': ['"severity":"HIGH"', '"severity":"ODD"'],
  hackerone: [',high,', ',odd,'],
  bugcrowd: [',1,', ',7,'],
  clair: ['"severity":"Defcon1"', '"severity":"Odd"'],
  anchore: ['"severity":"Medium"', '"severity":"Odd"'],
};

export const movedLines: Readonly<Record<string, readonly [from: string, to: string]>> = {
  fortify: ['line="12"', 'line="90"'],
  checkmarx: ['<Line>39</Line>', '<Line>93</Line>'],
  'checkmarx-one': ['"line":9', '"line":90'],
  veracode: ['line="18"', 'line="90"'],
  'veracode-pipeline': ['"line":18', '"line":90'],
  github: ['"start_line":12', '"start_line":90'],
};
/** The report as text; of Fortify what its archive holds. */
export function plainOf(format: string): string {
  if (format === 'fortify') return fvdlOf(3);
  const [report] = products[format] ?? [];
  return typeof report === 'string' ? report : JSON.stringify(report);
}

/** Lists of findings in the other order; null: it has none of two. */
export function turned(report: unknown): unknown {
  if (Array.isArray(report)) return report.length > 1 ? report.toReversed() : null;
  if (typeof report !== 'object' || report === null || Buffer.isBuffer(report)) return null;
  const lists = Object.entries(report).filter(([, value]) => Array.isArray(value) && value.length > 1);
  return lists.length === 0
    ? null
    : { ...report, ...Object.fromEntries(lists.map(([name, value]) => [name, (value as unknown[]).toReversed()])) };
}
