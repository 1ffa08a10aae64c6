// A record that no importer can read may be the very finding whose lack would close it: such a report proves nothing.
// What was understood and is no finding, a check that passed, takes nothing away from the proof.
import t from 'tap';
import { read } from '../testing/read-report.js';
import { provingAbsence } from './kinds/faults.js';
import { isDropped, unread, type Item, type ReportFacts } from './record.js';

const found = { ruleId: 'r', message: { text: 'm' } };
const sarif = (...results: unknown[]) => ({ version: '2.1.0', runs: [{ tool: { driver: { name: 'one' } }, results }] });
const semgrep = (...results: object[]) => ({ version: '1.90.0', results, errors: [], paths: { scanned: ['a.py'] } });
const zap = (alert: object) => ({ '@programName': 'ZAP', site: [{ '@name': 'http://a', alerts: [alert] }] });
const nuclei = (more: object) => ({ 'template-id': 't', info: { name: 'T' }, 'matched-at': 'http://a/', ...more });
const trivy = (result: object) => ({ SchemaVersion: 2, ArtifactName: 'x', Results: [{ Target: 't', ...result }] });
const kubeBench = (result: object) => ({
  Controls: [{ node_type: 'node', tests: [{ section: '1', results: [result] }] }],
});

/** What it shows → a report, and whether the lack of a finding in it proves that it is gone. */
const proofs: readonly (readonly [string, unknown, boolean])[] = [
  ['sarif: a result that is none', sarif(found, null), false],
  ['sarif: a check that passed', sarif(found, { ...found, kind: 'pass' }), true],
  ['semgrep: a result without a check', semgrep({ path: 'a.py' }), false],
  ['semgrep: nothing found', semgrep(), true],
  ['gitleaks: a secret without a rule', [{ RuleID: '', Secret: 'x', File: 'a' }], false],
  ['zap: an alert without an instance', zap({ pluginid: '1', alert: 'A', instances: [] }), false],
  ['zap: nothing found', { '@programName': 'ZAP', site: [{ '@name': 'http://a', alerts: [] }] }, true],
  ['zap: no site', { '@programName': 'ZAP', site: [] }, false],
  ['nuclei: a template without a name', [nuclei({}), nuclei({ 'template-id': '' })], false],
  ['nuclei: a template that did not match', [nuclei({}), nuclei({ 'matcher-status': false })], true],
  ['cyclonedx: what is no vulnerability', { bomFormat: 'CycloneDX', vulnerabilities: [null] }, false],
  ['trivy: a vulnerability without an id', trivy({ Vulnerabilities: [{}] }), false],
  ['trivy: a check without its outcome', trivy({ Misconfigurations: [{ ID: 'A' }] }), false],
  ['trivy: a check that passed', trivy({ Misconfigurations: [{ ID: 'A', Status: 'PASS' }] }), true],
  ['grype: what is no match', { matches: [null], descriptor: { name: 'grype' } }, false],
  ['kube-bench: a check without a number', kubeBench({ status: 'FAIL' }), false],
  ['kube-bench: a check that passed', kubeBench({ status: 'PASS', test_number: '1.1' }), true],
  ['lynis: a line that names no test', '# Lynis Report\nwarning[]=|text|-|-|\n', false],
  ['csv: a row without a title', 'title;severity\r\nA;high\r\n;low\r\n', false],
  ['csv: rows that are read', 'title;severity\r\nA;high\r\n', true],
];

t.test('14.4: a record that cannot be read may be the finding that seems to be gone', async (t) => {
  for (const [what, report, proves] of proofs)
    await t.test(what, async (t) => t.equal((await read(t, report)).facts.complete, proves));
  t.test('an importer that writes later that it has read everything does not prove it', async (t) => {
    const facts = { complete: false } as ReportFacts;
    const items = async function* (): AsyncGenerator<readonly Item[]> {
      yield [unread('has no title', 'line 2')];
      facts.complete = true;
    };
    for await (const some of provingAbsence(items(), facts)) t.ok(some.every(isDropped));
    t.equal(facts.complete, false);
  });
});
