// Scanners for secrets: TruffleHog (lines of JSON) and detect-secrets (its baseline).
import { unfit } from '../../../kit/endpoint.js';
import { at, list, masked, moment, obj, pos, reportPath, secretHash, str, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { parseJson, readBeginning, readJson, readLines } from '../../reading/report-file.js';
import type { Format } from '../format.js';

/** `SourceMetadata.Data` has one member, of the kind of the source: Git, Filesystem, Github, Docker … */
const sourceOf = (one: Json): Json => {
  const [data] = Object.values(obj(at(one, 'SourceMetadata', 'Data')));
  return obj(data);
};

function leak(one: Json, place: string): Item {
  const detector = str(one['DetectorName']);
  const [raw, redacted] = [str(one['Raw']), str(one['Redacted'])];
  const source = sourceOf(one);
  const path = reportPath(source['file']) || reportPath(source['path']) || str(source['link']) || str(source['image']);
  if (detector === '' || (raw === '' && redacted === '')) return unread('has no DetectorName or no secret', place);
  const line = pos(source['line']);
  const isVerified = one['Verified'] === true;
  const commit = str(source['commit']);
  return record({
    title: `${detector} credential${isVerified ? ' that is accepted' : ''}`,
    description: str(one['DetectorDescription']),
    // it was tried, and let somebody in
    severity: isVerified ? 'critical' : 'high',
    cwes: [798],
    source: 'secret',
    ruleId: detector,
    location: {
      kind: 'secret',
      path: path || 'unknown',
      ...(line === undefined ? {} : { line }),
      hash: secretHash(raw || redacted),
    },
    ...(raw === '' ? { placed: redacted } : { secrets: [raw, str(one['RawV2'])].filter((text) => text.length >= 4) }),
    evidence: [{ match: masked(redacted || raw, raw), ...(commit === '' ? {} : { commit }) }],
    quality: isVerified ? 0.95 : 0.6,
  });
}

export const trufflehog: Format = {
  name: 'trufflehog',
  label: 'TruffleHog JSON (version 3)',
  detection: 'lines with "SourceMetadata" and "DetectorName"',
  detect: (beginning) =>
    /^\s*\[?\s*\{/.test(beginning) &&
    (/"SourceMetadata"[\s\S]*"DetectorName"/.test(beginning) || beginning.includes('"logger":"trufflehog"')),
  async *read(file, facts) {
    facts.tool = 'TruffleHog';
    let isReport = false;
    // as jq collects or indents it
    if (/^\s*(?:\[|\{\s*\n)/.test(await readBeginning(file, 4096))) {
      const report = await readJson(file);
      for (const [index, one] of (Array.isArray(report) ? (report as unknown[]) : [report]).map(obj).entries()) {
        if (one['SourceMetadata'] === undefined)
          throw unfit('file', `has an element ${index} that is none of TruffleHog`);
        isReport = true;
        yield leak(one, `/${index}`);
      }
      if (!isReport) yield fault('the report has no result: nothing shows that a source was looked at');
      return;
    }
    for await (const [number, line] of readLines(file)) {
      const one = obj(parseJson(line, `Line ${number}`));
      if (one['SourceMetadata'] === undefined) {
        // what it says of its own work stands between, where both streams are one file
        if (str(one['logger']) === '') throw unfit('file', `has a line ${number} that is none of TruffleHog`);
        isReport ||= str(one['msg']) === 'finished scanning' && (pos(one['chunks']) ?? 0) > 0;
        yield /^error/i.test(str(one['level']))
          ? fault(`line ${number}: ${str(one['msg'])}`)
          : noFinding('is a line of its log', `line ${number}`);
        continue;
      }
      isReport = true;
      yield leak(one, `line ${number}`);
    }
    if (!isReport) yield fault('the report has no result: nothing shows that a source was looked at');
  },
};

export const detectSecrets: Format = {
  name: 'detect-secrets',
  label: 'detect-secrets (baseline)',
  detection: '"plugins_used" and "results"',
  detect: (beginning) => /^\s*\{/.test(beginning) && beginning.includes('"plugins_used"'),
  async *read(file, facts) {
    const report = obj(await readJson(file));
    if (report['results'] === undefined) throw unfit('file', 'is no baseline of detect-secrets');
    facts.tool = 'detect-secrets';
    facts.version = str(report['version']);
    facts.scannedAt = moment(report['generated_at']);
    if (list(report['plugins_used']).length === 0) yield fault('no plugin was used: nothing was looked for');
    for (const [name, found] of Object.entries(obj(report['results'])))
      for (const [index, one] of list(found).map(obj).entries()) {
        const [type, hash] = [str(one['type']), str(one['hashed_secret'])];
        if (type === '' || hash === '') {
          yield unread('has no type or no hashed_secret', `/results/${name}/${index}`);
          continue;
        }
        const path = reportPath(one['filename']) || reportPath(name);
        const line = pos(one['line_number']);
        yield record({
          title: type,
          severity: one['is_verified'] === true ? 'critical' : 'high',
          cwes: [798],
          source: 'secret',
          ruleId: type,
          location: { kind: 'secret', path, ...(line === undefined ? {} : { line }), hash: secretHash(hash) },
          placed: hash,
          quality: one['is_verified'] === true ? 0.95 : 0.6,
          // its audit: a person has looked, and says that it is none
          suppressed: one['is_secret'] === false,
        });
      }
  },
};
