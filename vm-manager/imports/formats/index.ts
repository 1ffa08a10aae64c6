// Every format that can be imported. The order counts where a file could be two of them.
import { unfit } from '../../kit/endpoint.js';
import { readBeginning, type ReportFile } from '../reading/report-file.js';
import { cyclonedx, cyclonedxXml, spdx, spdxTagValue } from './bills.js';
import { checkov, gitleaks, kubeBench, semgrep } from './code.js';
import { grype, npmAudit, trivy } from './dependencies.js';
import type { Format } from './format.js';
import { lynis } from './host.js';
import { bandit } from './profiles.js';
import { acunetix, invicti, invictiXml } from './products/sites-of-suites.js';
import { anchore, clair } from './products/images.js';
import { asff, kics, kubeHunter, tfsec } from './products/clouds.js';
import { azureCsv, azureDefender, prowlerOcsf, securityCommandCenter } from './products/accounts.js';
import { bugcrowd, hackerone } from './products/bounties.js';
import { checkmarx, checkmarxOne } from './products/checkmarx.js';
import { dependencyTrack, github } from './products/alerts.js';
import { fortify } from './products/fortify.js';
import { nessus, openvas } from './products/hosts.js';
import { detectSecrets, trufflehog } from './products/leaks.js';
import { dependencyCheck, osvScanner, snyk } from './products/packages.js';
import { gitlab, sonarqube } from './products/platforms.js';
import { qualys, qualysCsv, qualysWas } from './products/qualys.js';
import { burp, nikto } from './products/sites.js';
import { veracode, veracodePipeline } from './products/veracode.js';
import { retire } from './retire.js';
import { sarif } from './sarif.js';
import { csv } from './tabular.js';
import { checkstyle } from './tools/checkstyle.js';
import { gcc } from './tools/lines.js';
import { clangPlist, cppcheck, flawfinder } from './tools/native-code.js';
import { nmap, testssl } from './tools/network.js';
import { shellcheck } from './tools/shellcheck.js';
import { banditCsv, banditXml, secretlint, wapiti } from './tools/scripted.js';
import { csaf, openVex } from './vex.js';
import { nuclei, zapJson, zapXml } from './web.js';

export const formats: readonly Format[] = [
  sarif,
  cyclonedx,
  cyclonedxXml,
  spdx,
  spdxTagValue,
  openVex,
  csaf,
  trivy,
  grype,
  semgrep,
  gitleaks,
  zapJson,
  zapXml,
  nuclei,
  checkov,
  kubeBench,
  lynis,
  npmAudit,
  retire,
  bandit,
  banditCsv,
  banditXml,
  cppcheck,
  clangPlist,
  flawfinder,
  shellcheck,
  checkstyle,
  gcc,
  nmap,
  testssl,
  wapiti,
  secretlint,
  osvScanner,
  dependencyCheck,
  gitlab,
  snyk,
  trufflehog,
  detectSecrets,
  kics,
  tfsec,
  kubeHunter,
  asff,
  sonarqube,
  burp,
  nikto,
  nessus,
  openvas,
  fortify,
  checkmarx,
  checkmarxOne,
  veracode,
  veracodePipeline,
  qualys,
  qualysWas,
  qualysCsv,
  github,
  dependencyTrack,
  prowlerOcsf,
  acunetix,
  invicti,
  invictiXml,
  azureDefender,
  azureCsv,
  securityCommandCenter,
  hackerone,
  bugcrowd,
  clair,
  anchore,
  csv,
];

/** Tools whose own JSON or XML has no importer: what they write as SARIF has one. */
const sarifHint = 'of tools without one of these, such as gosec, Snyk Code or CodeQL, send their report as SARIF';

/** By name, or found out by the beginning of the file. Throws 422 when it is none that is known. */
export async function findFormat(name: string, file: ReportFile): Promise<Format> {
  const names = formats.map((format) => format.name).join(', ');
  if (name !== 'auto') {
    const named = formats.find((format) => format.name === name);
    if (named === undefined) throw unfit('format', `must be auto, ${names}, or mapping:NAME`);
    return named;
  }
  const beginning = await readBeginning(file);
  const found = formats.find((format) => format.detect(beginning));
  if (found === undefined) throw unfit('file', 'is of no format that is known', `name one of ${names}; ${sarifHint}`);
  return found;
}
