// SARIF 2.1.0 (OASIS). Results are read one by one; the rest of the document (tools, rules, artifacts) is read before.
import { unfit } from '../../kit/endpoint.js';
import { at, cwesOf, list, moment, num, obj, pos, str, texts, vulnIdsOf, type Json } from '../normalize.js';
import { cut, noFinding, record, unread, type Item, type Location } from '../record.js';
import { parseElement, readAround } from '../reading/report-file.js';
import type { Cut } from '../reading/json-cut.js';
import { canonicalName } from '../kinds/tools.js';
import { withKind } from '../kinds/sarif-kind.js';
import { readSeverity, severityOfScore, type SeverityReading } from '../severity/read.js';
import { toolScales } from '../severity/words.js';
import type { Format } from './format.js';
import { addressOf, messageOf, readRun, rootsOf, ruleOf, taxonOf, type Run } from './sarif-run.js';

const results = ['runs', '*', 'results', '*'];

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** By `security-severity`, a score up to 10.0 or a word, else by the level; without one it is a warning. */
function severityOf(result: Json, rule: Json): SeverityReading {
  const given = [result, rule].map((one) => at(one, 'properties', 'security-severity')).find(isGiven);
  if (given !== undefined) {
    const score = num(given);
    return score !== null && score >= 0 && score <= 10 ? { severity: severityOfScore(score) } : readSeverity(given);
  }
  const level = [result['level'], at(rule, 'defaultConfiguration', 'level')].find(isGiven);
  return readSeverity(level, { scale: toolScales.sarif, ifAbsent: 'medium' });
}

function locationOf(given: unknown, run: Run): Location {
  const physical = obj(at(given, 'physicalLocation'));
  const address = addressOf(obj(physical['artifactLocation']), run);
  const region = obj(physical['region']);
  const logical = obj(at(given, 'logicalLocations', 0));
  const listed = obj(run.logicalLocations[num(logical['index']) ?? -1]);
  const ofPlace = (name: string): string => str(Object.hasOwn(logical, name) ? logical[name] : listed[name]);
  const symbol = ofPlace('fullyQualifiedName') || ofPlace('name');
  const snippet = str(at(region, 'snippet', 'text')) || str(at(physical, 'contextRegion', 'snippet', 'text'));
  const place: Record<string, unknown> = { kind: 'code', path: address || symbol || 'unknown' };
  const [line, endLine, column] = [pos(region['startLine']), pos(region['endLine']), pos(region['startColumn'])];
  if (line !== undefined) place['line'] = line;
  if (endLine !== undefined) place['end_line'] = endLine;
  if (column !== undefined) place['column'] = column;
  if (symbol !== '') place['symbol'] = symbol;
  if (snippet !== '') place['snippet'] = snippet;
  return place as unknown as Location;
}

/** Where it is: in a file, or, of a tool that talks to an application, behind an address of it. */
function placeOf(result: Json, run: Run): Location {
  const found = locationOf(at(result, 'locations', 0), run);
  if (found.kind !== 'code' || !/^https?:\/\//i.test(found.path)) return found;
  return { kind: 'web', url: found.path, method: str(at(result, 'webRequest', 'method')).toUpperCase() || 'GET' };
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

/** Set aside, unless all that was said about it was rejected. */
const isSuppressed = (result: Json): boolean =>
  list(result['suppressions']).some((one) => str(obj(one)['status']) !== 'rejected');

interface RuleFacts {
  readonly taxa: readonly string[];
  readonly tags: readonly string[];
  readonly named: readonly string[];
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
  const facts = { taxa, tags, named, cwes: cwesOf([...taxa, ...tags, ...named]) };
  rulesRead.set(rule, facts);
  return facts;
}

function toRecord(result: Json, run: Run): Item | null {
  const kind = str(result['kind']) || 'fail';
  if (['pass', 'notApplicable'].includes(kind) || str(result['baselineState']) === 'absent') return null;
  const rule = ruleOf(result, run);
  const ofRule = factsOfRule(rule, run);
  const { tags } = ofRule;
  const ruleId = str(result['ruleId']) || str(at(result, 'rule', 'id')) || str(rule['id']);
  const message = messageOf(result, rule, run);
  const name = str(rule['name']);
  const location = placeOf(result, run);
  const rank = num(result['rank']);
  const trace = list(at(result, 'codeFlows', 0, 'threadFlows', 0, 'locations')).slice(0, 20);
  const further = list(result['locations']).slice(1, 20);
  const taxa = list(result['taxa']).map((one) => taxonOf(one, run));
  const named = texts(at(result, 'properties', 'cwe'));
  const made = record({
    // the Clang analyzer names a rule by its id, which says nothing to a reader
    title: str(at(rule, 'shortDescription', 'text')) || (name === ruleId ? '' : name) || message || ruleId,
    description: [message, str(at(rule, 'fullDescription', 'text'))].filter(Boolean).join('\n\n'),
    ...(kind === 'fail' ? severityOf(result, rule) : { severity: 'info' as const }),
    cwes:
      taxa.length + named.length === 0
        ? ofRule.cwes
        : cwesOf([...ofRule.taxa, ...taxa, ...tags, ...named, ...ofRule.named]),
    vulnIds: vulnIdsOf([ruleId, str(rule['name'])]),
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
    const runs = list(rest['runs']).map((run) => readRun(obj(run), obj(run)['results']));
    const invocations = list(rest['runs']).flatMap((run) => list(obj(run)['invocations']).map(obj));
    facts.tool = canonicalName(runs[0]?.tool ?? 'SARIF');
    facts.version =
      str(at(rest, 'runs', 0, 'tool', 'driver', 'semanticVersion')) ||
      str(at(rest, 'runs', 0, 'tool', 'driver', 'version'));
    facts.complete =
      runs.length > 0 &&
      runs.every(({ hasResults }) => hasResults) &&
      invocations.every((one) => one['executionSuccessful'] !== false);
    facts.roots = runs.flatMap(rootsOf);
    facts.scannedAt = moment(invocations.at(-1)?.['endTimeUtc']);
    const [none] = runs;
    const toItem = ({ at: [runIndex = 0, index = 0], text }: Cut): Item => {
      const place = `/runs/${runIndex}/results/${index}`;
      const result = parseElement(text, place);
      if (Object.keys(obj(result)).length === 0) return unread('is no result', place);
      return toRecord(obj(result), runs[runIndex] ?? none ?? readRun({}, [])) ?? noFinding('is no failure', place);
    };
    for await (const cuts of around.elements()) yield cuts.map(toItem);
  },
};
