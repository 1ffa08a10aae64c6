// SARIF 2.1.0 (OASIS). Results are read one by one; the rest of the document (tools, rules, artifacts) is read before.
import { ApiError } from '#http-kit';
import { unfit } from '../../kit/endpoint.js';
import { at, cwesOf, list, moment, num, obj, pos, str, texts, vulnIdsOf, type Json } from '../normalize.js';
import { cut, isDropped, noFinding, record, unread, type Item, type Location, type ReportFacts } from '../record.js';
import { hostOf, type Sighted } from '../run/looked-at.js';
import { subjectOf } from '../run/subject.js';
import { parseElement, readAround } from '../reading/report-file.js';
import type { Cut } from '../reading/json-cut.js';
import { canonicalName, profileOf } from '../kinds/tools.js';
import { withKind } from '../kinds/sarif-kind.js';
import { readSeverity, severityOfScore, type SeverityReading } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import type { Format } from './format.js';
import { elsewhere, faultsOf } from './sarif-invocations.js';
import { configuredFor, isOff, turnedOff } from './sarif/overrides.js';
import { addressOf, inventoryOf, messageOf, readRun, rootsOf, ruleOf, subjectsOf, taxonOf } from './sarif-run.js';
import { gravestBeside } from './sarif/told-severity.js';
import type { Run } from './sarif-run.js';

const results = ['runs', '*', 'results', '*'];

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** By `security-severity`, a score up to 10.0 or a word, else by the level; without one it is a warning. */
function severityOf(result: Json, rule: Json, run: Run): SeverityReading {
  const given = [result, rule].map((one) => at(one, 'properties', 'security-severity')).find(isGiven);
  if (given !== undefined) {
    const score = num(given);
    return score !== null && score >= 0 && score <= 10 ? { severity: severityOfScore(score) } : readSeverity(given);
  }
  const level = isGiven(result['level']) ? result['level'] : configuredFor(result, rule, run).level;
  const read = readSeverity(level, { scale: toolScales.sarif, ifAbsent: 'medium' });
  return { ...read, severity: gravestBeside(read.severity, result, rule) };
}

function locationOf(given: unknown, run: Run): Location {
  const physical = obj(at(given, 'physicalLocation'));
  const address = addressOf(obj(physical['artifactLocation']), run);
  const region = obj(physical['region']);
  const logical = obj(at(given, 'logicalLocations', 0));
  const listed = obj(run.logicalLocations[num(logical['index']) ?? -1]);
  const ofPlace = (name: string): string => str(Object.hasOwn(logical, name) ? logical[name] : listed[name]);
  const symbol = ofPlace('fullyQualifiedName') || ofPlace('name');
  const exact = str(at(region, 'snippet', 'text'));
  const around = obj(physical['contextRegion']);
  const snippet = exact || str(at(around, 'snippet', 'text'));
  const place: Record<string, unknown> = { kind: 'code', path: address || symbol || 'unknown' };
  const [line, endLine, column] = [pos(region['startLine']), pos(region['endLine']), pos(region['startColumn'])];
  if (line !== undefined) place['line'] = line;
  if (endLine !== undefined) place['end_line'] = endLine;
  if (column !== undefined) place['column'] = column;
  if (symbol !== '') place['symbol'] = symbol;
  if (snippet !== '') place['snippet'] = snippet;
  const first = exact === '' && snippet !== '' ? pos(around['startLine']) : undefined;
  if (first !== undefined && first !== line) place['snippet_line'] = first;
  return place as unknown as Location;
}

/** A whole address of a page, also where a writer has cleaned it as if it were a path (`https:/host/x`). */
function urlOf(value: unknown): string {
  const found = /^(https?):\/+([^\s/?#][^\s]{0,2000})$/i.exec(str(value).trim());
  return found === null ? '' : `${found[1]}://${found[2]}`;
}

/** `https://host` and `/path` of a report that has them in two places. */
const joined = (host: string, path: string): string =>
  host === '' || path === '' ? host : `${host}/${path.replace(/^\/+/, '')}`;

/** Of a tool that talks to an application, the address that it asked, wherever its report has it; '': nowhere. */
function askedOf(result: Json, path: string): string {
  const [place] = list(result['locations']);
  const given = [
    at(place, 'physicalLocation', 'artifactLocation', 'description', 'text'),
    at(place, 'message', 'text'),
    at(result, 'webRequest', 'target'),
    ...['url', 'uri', 'matched-at', 'matchedAt', 'endpoint'].map((name) => at(result, 'properties', name)),
  ].map(urlOf);
  const whole = given.find((url) => url !== '');
  if (whole !== undefined) return whole;
  const [host = ''] = /https?:\/\/[^\s/?#"'<>()]{1,255}/i.exec(str(at(result, 'message', 'text'))) ?? [];
  return joined(host, path);
}

/** The parameter, where the writer has kept it. */
function parameterOf(result: Json): string {
  const [place] = list(result['locations']);
  const names = Object.keys(obj(at(result, 'webRequest', 'parameters')));
  const given = ['param', 'parameter', 'fuzzing_parameter'].flatMap((name) => [
    str(at(result, 'properties', name)),
    str(at(place, 'properties', name)),
  ]);
  return given.find((one) => one !== '') ?? (names.length === 1 ? (names[0] ?? '') : '');
}

/** Where no location names a place, the file that was looked at (3.27.13), as tools that read binaries write. */
const ofTarget = (result: Json, given: Location, run: Run): Location =>
  ({ ...given, path: addressOf(obj(result['analysisTarget']), run) || 'unknown' }) as Location;

/** Where it is: in a file, or, of a tool that talks to an application, behind an address of it. */
function placeOf(result: Json, run: Run): Location {
  const given = locationOf(at(result, 'locations', 0), run);
  const found = given.kind === 'code' && given.path === 'unknown' ? ofTarget(result, given, run) : given;
  if (found.kind !== 'code') return found;
  const isPage = /^https?:\/\//i.test(found.path);
  const isScanner = profileOf(run.tool)?.kind === 'dast';
  const url = isPage ? found.path : isScanner ? askedOf(result, found.path === 'unknown' ? '' : found.path) : '';
  if (url === '') return found;
  const param = parameterOf(result);
  const method = str(at(result, 'webRequest', 'method')).toUpperCase();
  // Nuclei names no method in either of its formats
  const assumed = canonicalName(run.tool) === 'Nuclei' ? '' : 'GET';
  return { kind: 'web', url, method: method || assumed, ...(param === '' ? {} : { param }) };
}

const firstByName = (given: unknown) =>
  Object.entries(obj(given)).sort(([left], [right]) => (left < right ? -1 : 1))[0];

/** A partial fingerprint tells results of one file apart and is the same for the same line of two files. */
function nativeOf(result: Json, { kind, ...place }: Location): string | null {
  const own = str(firstByName(result['fingerprints'])?.[1]);
  if (own !== '') return own;
  const line = str(at(result, 'partialFingerprints', 'primaryLocationLineHash'));
  const partial = line || str(firstByName(result['partialFingerprints'])?.[1]);
  if (partial !== '') return kind === 'code' && 'path' in place ? `${partial} ${place.path}` : partial;
  return str(result['correlationGuid']) || str(result['guid']) || null;
}

/** Set aside where all that was said about it is accepted (3.35.3: also without a status); what is asked for is not. */
function isSuppressed(result: Json): boolean {
  const all = list(result['suppressions']).map((one) => str(obj(one)['status']).toLowerCase());
  return all.length > 0 && all.every((status) => status === '' || status === 'accepted');
}

/** Kinds that have no level of their own (3.27.10); what the result or its rule rates counts nevertheless. */
const unrated = new Set(['informational', 'open', 'review']);

/** By kind (3.27.9): a word that is none says nothing, least of all that it is harmless. */
function severityOfKind(kind: string, result: Json, rule: Json, run: Run): SeverityReading {
  if (kind === 'fail') return severityOf(result, rule, run);
  const isRated =
    isGiven(result['level']) || [result, rule].some((one) => isGiven(at(one, 'properties', 'security-severity')));
  if (unrated.has(kind)) return isRated ? severityOf(result, rule, run) : { severity: 'info' };
  const severityProblem = `the kind "${cut(kind, 60)}" is none of SARIF`;
  return { ...(isRated ? severityOf(result, rule, run) : { severity: 'high' as const }), severityProblem };
}

interface RuleFacts {
  readonly taxa: readonly string[];
  readonly tags: readonly string[];
  readonly named: readonly string[];
  /** Where other ids of the vulnerability may be: govulncheck has them as tags. */
  readonly aliases: readonly string[];
  readonly cwes: readonly number[];
}
/** A rule is read once: it has thousands of results. */
const rulesRead = new WeakMap<Json, RuleFacts>();

function factsOfRule(rule: Json, run: Run): RuleFacts {
  const known = rulesRead.get(rule);
  if (known !== undefined) return known;
  const properties = obj(rule['properties']);
  const tags = texts(properties['tags']);
  const taxa = list(rule['relationships']).map((one) => taxonOf(obj(one)['target'], run));
  const named = texts(properties['cwe']);
  const aliases = ['aliases', 'cve', 'cves', 'cveId', 'vulnerabilityId'].flatMap((one) => texts(properties[one]));
  const facts = { taxa, tags, named, aliases: [...tags, ...aliases], cwes: cwesOf([...taxa, ...tags, ...named]) };
  rulesRead.set(rule, facts);
  return facts;
}

function toRecord(result: Json, run: Run): Item | null {
  const kind = str(result['kind']).toLowerCase() || 'fail';
  if (['pass', 'notapplicable'].includes(kind) || str(result['baselineState']) === 'absent') return null;
  const rule = ruleOf(result, run);
  const ofRule = factsOfRule(rule, run);
  const { tags } = ofRule;
  const ruleId = str(result['ruleId']) || str(at(result, 'rule', 'id')) || str(rule['id']);
  const message = messageOf(result, rule, run);
  const name = str(rule['name']);
  const location = placeOf(result, run);
  const rank = num(result['rank']) ?? configuredFor(result, rule, run).rank;
  const trace = list(at(result, 'codeFlows', 0, 'threadFlows', 0, 'locations')).slice(0, 20);
  const further = list(result['locations']).slice(1, 20);
  const taxa = list(result['taxa']).map((one) => taxonOf(one, run));
  const named = texts(at(result, 'properties', 'cwe'));
  const made = record({
    // the Clang analyzer names a rule by its id, which says nothing to a reader
    title: str(at(rule, 'shortDescription', 'text')) || (name === ruleId ? '' : name) || message || ruleId,
    description: [message, str(at(rule, 'fullDescription', 'text'))].filter(Boolean).join('\n\n'),
    ...severityOfKind(kind, result, rule, run),
    cwes:
      taxa.length + named.length === 0
        ? ofRule.cwes
        : cwesOf([...ofRule.taxa, ...taxa, ...tags, ...named, ...ofRule.named]),
    vulnIds: vulnIdsOf([ruleId, name, ...ofRule.aliases]),
    source: 'sast', // withKind knows better
    ruleId,
    nativeId: nativeOf(result, location),
    location,
    fix: {
      state: list(result['fixes']).length > 0 ? 'fixed_available' : 'unknown',
      text: cut(str(at(result, 'fixes', 0, 'description', 'text')) || str(at(rule, 'help', 'text')), 5000),
    },
    references: texts(rule['helpUri']),
    evidence: [...trace.map((one) => at(one, 'location')), ...further].map((one) => locationOf(one, run)),
    tags: tags.filter((tag) => !/cwe/i.test(tag)),
    quality: rank === null || rank < 0 ? 0.7 : rank / 100, // -1 stands for none (3.27.25)
    suppressed: isSuppressed(result),
    tool: run.tool,
  });
  return withKind(made, result, rule, run.properties);
}

/** What was looked at: the tools of all runs; of one tool, what it calls its run, its repository or its image. */
function tellScope(facts: ReportFacts, runs: readonly Run[]): void {
  facts.tools = [...new Set(runs.map(({ tool }) => tool))];
  facts.subject = subjectOf(runs.flatMap(subjectsOf));
  if (facts.tools.length > 1) facts.looked = { by: 'tool', names: new Set(facts.tools) };
  else if (profileOf(facts.tools[0] ?? '')?.kind === 'dast')
    facts.looked = { by: 'host', names: new Set(), isOfResults: true };
  const off = runs.map((run) => [run.tool, turnedOff(run)] as const).filter(([, ids]) => ids.size > 0);
  if (off.length === 0) return;
  const covers = ({ tool, rule_id: ruleId }: Sighted): boolean =>
    !off.some(([name, ids]) => [name, canonicalName(name)].includes(tool) && isOff(ids, ruleId));
  const names = new Set(facts.tools.flatMap((name) => [name, canonicalName(name)]));
  facts.looked = { ...(facts.looked ?? { by: 'tool', names }), covers };
}

/** Each run is read whole before its results; a collection of many tools' reports has some hundred. */
const runsMax = 1000;
/** Of all runs and their extensions; the largest packs of queries have some thousand. */
const rulesMax = 50_000;

/** Throws ApiError 413: before results are read, all runs and rules are kept, which others would wait for. */
function refuseMany(runs: readonly Json[]): void {
  if (runs.length > runsMax)
    throw new ApiError(
      'body_too_large',
      `The report has ${runs.length} runs, and at most ${runsMax} are read; split it.`,
    );
  const rules = runs.reduce(
    (sum, { tool }) =>
      [obj(tool)['driver'], ...list(obj(tool)['extensions'])].reduce<number>(
        (count, component) => count + list(obj(component)['rules']).length,
        sum,
      ),
    0,
  );
  if (rules > rulesMax)
    throw new ApiError('body_too_large', `The report has ${rules} rules, and at most ${rulesMax} are read; split it.`);
}

export const sarif: Format = {
  name: 'sarif',
  label: 'SARIF 2.1.0',
  detection: '"version": "2.1.0" and "runs"',
  // a writer may put the version behind the runs: then the reader has the last word
  detect: (beginning) =>
    (/"version"\s*:\s*"2\.1\.0"/.test(beginning) && /"(?:runs|\$schema)"\s*:/.test(beginning)) ||
    /^\s*\{\s*(?:"\$schema"\s*:\s*"[^"]{0,300}sarif[^"]{0,300}"\s*,\s*)?"runs"\s*:\s*\[/.test(beginning),
  async *read(file, facts) {
    const around = await readAround(file, results);
    const rest = obj(around.rest);
    if (rest['version'] !== '2.1.0' || !Array.isArray(rest['runs'])) throw unfit('file', 'is no SARIF 2.1.0 report');
    refuseMany(list(rest['runs']).map(obj));
    const runs = list(rest['runs']).map((run) => readRun(obj(run), obj(run)['results']));
    const invocations = list(rest['runs']).flatMap((run) => list(obj(run)['invocations']).map(obj));
    facts.tool = canonicalName(runs[0]?.tool ?? 'SARIF');
    facts.version =
      str(at(rest, 'runs', 0, 'tool', 'driver', 'semanticVersion')) ||
      str(at(rest, 'runs', 0, 'tool', 'driver', 'version'));
    const faults = [...runs.flatMap(({ properties, tool }) => faultsOf(properties, tool)), ...elsewhere(rest)];
    facts.complete = runs.length > 0 && runs.every(({ hasResults }) => hasResults);
    facts.roots = runs.flatMap(rootsOf);
    tellScope(facts, runs);
    facts.inventory = inventoryOf(runs);
    facts.scannedAt = moment(invocations.at(-1)?.['endTimeUtc']);
    const [none] = runs;
    const toItem = ({ at: [runIndex = 0, index = 0], text }: Cut): Item => {
      const place = `/runs/${runIndex}/results/${index}`;
      const result = parseElement(text, place);
      if (Object.keys(obj(result)).length === 0) return unread('is no result', place);
      const run = runs[runIndex] ?? none ?? readRun({}, []);
      const made = toRecord(obj(result), run) ?? noFinding('is no failure', place);
      if (!isDropped(made) && made.location.kind === 'web' && facts.looked?.by === 'host')
        facts.looked.names.add(hostOf(made.location.url) ?? '');
      return made;
    };
    if (faults.length > 0) yield faults;
    for await (const cuts of around.elements()) yield cuts.map(toItem);
  },
};
