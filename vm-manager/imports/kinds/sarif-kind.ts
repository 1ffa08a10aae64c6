// What SARIF hides of a result's kind: a leaked secret, a dependency, a misconfiguration. By the tool's profile, the
// rule's tags, the rule's id, and lines such as `Package: left` in messages and help texts.
import { redacted, severityOfSecret } from './secrets.js';
import { at, isVulnId, num, obj, secretHash, str, texts, vulnIdsOf, type Json } from '../normalize.js';
import type { FindingRecord, Location } from '../record.js';
import { readSeverity } from '../severity/read.js';
import { kindOfRule } from './enrich.js';
import { kindOfTag, profileOf, qualityTags } from './tools.js';

type Source = FindingRecord['source'];
type Writable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Shorter ones are words of other texts, too. */
const secretMin = 8;

function sourceOf(tool: string, ruleId: string, title: string, tags: readonly string[], location: Location): Source {
  const profiled = kindOfRule(tool, ruleId, title);
  if (profiled !== null) return profiled;
  const tagged = tags.map((tag) => tag.trim().toLowerCase()).find((tag) => Object.hasOwn(kindOfTag, tag));
  if (tagged !== undefined) return kindOfTag[tagged] ?? 'sast';
  if (isVulnId(ruleId)) return 'sca';
  return location.kind === 'web' ? 'dast' : 'sast';
}

const linePatterns = new Map<string, RegExp>();

/** `Name: value` lines of messages and help texts; the names are this file's. */
function lineOf(text: string, names: string): string {
  let pattern = linePatterns.get(names);
  if (pattern === undefined) {
    pattern = new RegExp(`^[ \\t*]*(?:${names})[ \\t*]*:[ \\t*]*([^\\r\\n]{1,300})$`, 'im');
    linePatterns.set(names, pattern);
  }
  return (pattern.exec(text)?.[1] ?? '').trim();
}

/** `lodash@4.17.20` in the text, where nothing else names the version. */
function versionBehind(name: string, text: string): string {
  const at = text.indexOf(`${name}@`);
  if (at < 0 || /[\w/@.-]/.test(text[at - 1] ?? ' ')) return '';
  return /^[\w.+~:-]{0,99}\w/.exec(text.slice(at + name.length + 1, at + name.length + 101))?.[0] ?? '';
}

/** `CVE-2026-12345_lodash_4.17.20`, `XRAY-1_github.com/o/p_1.2`: package and version are in the id of the rule. */
function packageOfRule(ruleId: string, path: string): Location | null {
  const [, name, version] =
    /^(?:CVE-\d{4}-\d{1,9}|XRAY-\d{1,9}|GHSA(?:-\w{4}){3})_(\S{1,200})_([^\s_]{1,100})$/i.exec(ruleId) ?? [];
  return name === undefined ? null : { kind: 'package', name, version: version ?? '', path };
}

function packageOf(text: string, purl: string, path: string): Location | null {
  const named =
    /Package '((?:@[^'@]{1,200})|[^'@]{1,200})@([^']{1,100})'/.exec(text) ??
    /vulnerable (\S{1,200}) package/.exec(text) ??
    /package:? ([^\s,]{1,200}), version ([^\s,]{1,100})/.exec(text) ??
    /vulnerable modules? \(([^\s,)]{1,200})\)/.exec(text);
  const ofPurl = /^pkg:[^@?#]{1,200}\/([^@/?#]{1,200})(?:@([^?#]{1,100}))?/.exec(purl);
  const name = lineOf(text, 'Package|Component|Dependency') || named?.[1] || ofPurl?.[1] || '';
  if (name === '') return null;
  const version = lineOf(text, 'Installed Version|Version') || named?.[2] || ofPurl?.[2] || versionBehind(name, text);
  return { kind: 'package', name, version, path, ...(purl.startsWith('pkg:') ? { purl } : {}) };
}

/** Where a report shows no secret: what tells it from the others of its rule and file. */
function placedOf({ location, nativeId }: FindingRecord, text: string): string | null {
  if (location.kind !== 'code') return null;
  const match = lineOf(text, 'Match');
  if (match !== '') return match;
  const { path, line, snippet = '' } = location;
  if (snippet !== '' && !redacted.test(snippet.trim())) return null;
  return (
    (nativeId?.endsWith(` ${path}`) === true ? nativeId.slice(0, -1 - path.length) : nativeId) ?? String(line ?? '')
  );
}

function secretOf(record: FindingRecord, text: string): Location {
  const { location } = record;
  if (location.kind !== 'code') return location;
  const { path, line, snippet = '' } = location;
  const placed = placedOf(record, text);
  const hash = secretHash(placed === null ? snippet : `${record.ruleId}|${path}|${placed}`);
  return { kind: 'secret', path, ...(line === undefined ? {} : { line }), hash };
}

function placeOf(source: Source, record: FindingRecord, text: string, purl: string): Location {
  const { location } = record;
  if (location.kind !== 'code') return location;
  const { path, line } = location;
  if (source === 'secret') return secretOf(record, text);
  if (source === 'sca' || source === 'container')
    return packageOf(text, purl, path) ?? packageOfRule(record.ruleId, path) ?? location;
  if (source !== 'iac' && source !== 'k8s') return location;
  return { kind: 'resource', address: location.symbol ?? path, path, ...(line === undefined ? {} : { line }) };
}

/** The tool's own severity where its SARIF has it elsewhere, or has only a level that means nothing. */
function severityOf(record: FindingRecord, source: Source, tags: readonly string[], text: string, hasScore: boolean) {
  const kept = {
    severity: record.severity,
    ...(record.severityProblem === undefined ? {} : { severityProblem: record.severityProblem }),
  };
  const profile = profileOf(record.tool ?? '');
  if (source === 'secret' && !hasScore && profile?.name === 'Gitleaks')
    return { severity: severityOfSecret(`${record.ruleId} ${record.title}`) };
  if (profile?.hasSeverityTag === true) {
    const tag = tags.find((one) => /^(?:critical|high|medium|low|unknown)$/i.test(one)) ?? lineOf(text, 'Severity');
    if (tag !== '') return readSeverity(tag);
  }
  const word = profile?.name === 'Grype' ? lineOf(text, 'Severity') : '';
  if (word !== '') return readSeverity(word);
  if (hasScore || record.severity === 'info') return kept;
  return profile?.withoutScore === undefined ? kept : { severity: profile.withoutScore };
}

const categories = ['category', 'categories', 'ruleset', 'type'];

function isOfSecurity(properties: Json): boolean {
  for (const name of categories) {
    const value = properties[name];
    if (value !== undefined && texts(value).some((one) => /security|vulnerab/i.test(one))) return true;
  }
  return false;
}

const withoutProblem = ({ severityProblem: _, ...rest }: FindingRecord): FindingRecord => rest;

/** The record with what its rule and its texts say of its kind. */
export function withKind(record: FindingRecord, result: Json, rule: Json, run: Json): FindingRecord {
  const properties = obj(rule['properties']);
  const tags = texts(properties['tags']);
  const reported = record.tool ?? '';
  const text = [record.description, str(at(rule, 'help', 'text')), str(at(rule, 'fullDescription', 'text'))].join('\n');
  const names = `${record.title} ${str(rule['name'])}`;
  const given = sourceOf(reported, record.ruleId, names, tags, record.location);
  const isOfImage = str(at(run, 'properties', 'imageName')) !== '' && /OsPackage/.test(str(rule['name']));
  const source = given === 'sca' && isOfImage ? 'container' : given;
  const hasScore = [properties, obj(result['properties'])].some((one) => num(one['security-severity']) !== null);
  const location = placeOf(source, record, text, texts(properties['purls'])[0] ?? '');
  const fixed = lineOf(text, 'Fixed Version|Fix Version|Fixed in');
  const isLint =
    !hasScore &&
    source === 'sast' &&
    record.cwes.length === 0 &&
    !tags.some((tag) => /security|cwe/i.test(tag)) &&
    /^codeql/i.test(reported) &&
    tags.some((tag) => qualityTags.has(tag.toLowerCase()));
  const { severity, severityProblem } = severityOf(record, source, tags, text, hasScore);
  const made: Writable<FindingRecord> =
    record.severityProblem === undefined ? { ...record } : { ...withoutProblem(record) };
  made.source = isLint ? 'quality' : source;
  made.location = location;
  made.severity = severity;
  if (severityProblem !== undefined) made.severityProblem = severityProblem;
  // an advisory of a vendor tells what others call it; what a CVE or a GHSA is compared with is another one
  if (location.kind === 'package' && !record.vulnIds.some((id) => /^(?:CVE|GHSA)-/.test(id))) {
    const told = vulnIdsOf([text]).filter((id) => /^(?:CVE|GHSA)-/.test(id));
    made.vulnIds = [...told, ...record.vulnIds].slice(0, 50);
  }
  if (source === 'secret' && record.cwes.length === 0) made.cwes = [798];
  if (fixed !== '') made.fix = { ...record.fix, state: 'fixed_available', version: fixed };
  if (location.kind === 'secret' || location.kind === 'package') made.nativeId = null;
  if (hasScore) made.extra = { ...record.extra, security_severity: true };
  // PMD, SonarQube and others have the category beside the tags
  if (isOfSecurity(properties) || isOfSecurity(obj(result['properties'])))
    made.tags = [...record.tags.filter((tag) => tag !== 'security'), 'security'];
  made.tool = profileOf(reported)?.name ?? reported;
  if (source !== 'secret') return made;
  const snippet = record.location.kind === 'code' ? (record.location.snippet ?? '') : '';
  if (snippet.length >= secretMin) made.secrets = [snippet];
  const placed = placedOf(record, text);
  if (placed !== null) made.placed = placed;
  return made;
}
