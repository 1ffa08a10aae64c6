// Retire.js: scripts that hold a known version of a library with known holes, as `json` and as `jsonsimple`.
import { unfit } from '../../kit/endpoint.js';
import { at, reportPath, cwesOf, list, moment, obj, str, texts, vulnIdsOf, type Json } from '../normalize.js';
import { readJson } from '../reading/report-file.js';
import { record, type Item } from '../record.js';
import { readSeverity } from '../severity/read.js';
import type { Format } from './format.js';

/** Of an advisory without an id of its own: the first that its authors have given it, else what it says. */
function ruleOf(component: string, identifiers: Json): string {
  const [id] = vulnIdsOf([...texts(identifiers['CVE']), identifiers['githubID']]);
  if (id !== undefined) return id;
  const named = ['bug', 'issue', 'PR', 'commit', 'release', 'summary'].find((name) => str(identifiers[name]) !== '');
  return named === undefined ? component : `${component} ${named} ${str(identifiers[named])}`;
}

function advisoryOf(one: Json, component: Json, path: string): Item {
  const name = str(component['component']);
  const version = str(component['version']);
  const package_ = str(component['npmname']);
  const identifiers = obj(one['identifiers']);
  const fixed = str(one['below']);
  return record({
    title: str(identifiers['summary']) || `${name} ${version} is vulnerable`,
    ...readSeverity(one['severity']),
    cwes: cwesOf(texts(one['cwe'])),
    vulnIds: vulnIdsOf([...texts(identifiers['CVE']), identifiers['githubID']]),
    source: 'sca',
    ruleId: ruleOf(name, identifiers),
    location: {
      kind: 'package',
      name,
      version,
      path,
      ...(package_ === '' ? {} : { purl: `pkg:npm/${package_.replace('@', '%40')}` }),
    },
    fix: fixed === '' ? { state: 'unknown' } : { state: 'fixed_available', version: fixed },
    references: texts(one['info']),
    quality: 0.8, // a version that is known has the hole: nothing is guessed but whether it is used
    extra: { detection: str(component['detection']) },
  });
}

export const retire: Format = {
  name: 'retire',
  label: 'Retire.js JSON (json and jsonsimple)',
  detection: '"data" behind "start", or a list with "file" and "component"',
  detect: (beginning) =>
    /^\s*\{\s*"version"\s*:\s*"[^"]{0,40}"\s*,\s*"start"\s*:\s*"[^"]{0,40}"\s*,\s*"data"\s*:\s*\[/.test(beginning) ||
    (/^\s*\[\s*\{\s*"(?:file|results)"/.test(beginning) && beginning.includes('"component"')),
  async *read(file, facts) {
    const report = await readJson(file);
    const files = Array.isArray(report) ? (report as unknown[]) : at(report, 'data');
    if (!Array.isArray(files)) throw unfit('file', 'is no report of Retire.js');
    facts.tool = 'Retire.js';
    facts.version = str(at(report, 'version'));
    facts.scannedAt = moment(at(report, 'start'));
    // without its list of holes it finds nothing, says so in `errors`, and ends well
    facts.complete = list(at(report, 'errors')).length === 0;
    for (const value of files) {
      const path = reportPath(at(value, 'file'));
      for (const component of list(at(value, 'results')).map(obj))
        for (const one of list(component['vulnerabilities'])) yield advisoryOf(obj(one), component, path);
    }
  },
};
