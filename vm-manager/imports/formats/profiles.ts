// Formats that are a mapping profile and no more: what an operator could have written for a tool with flat records.
import { at, list, num, obj, reportPath } from '../normalize.js';
import { fault } from '../record.js';
import { readJson } from '../reading/report-file.js';
import type { Format } from './format.js';
import { mappedFormat } from './tabular.js';

const banditProfile = mappedFormat({
  name: 'Bandit',
  format: 'json',
  rows_path: 'results',
  fields: {
    title: 'issue_text',
    severity: 'issue_severity',
    cwe: 'issue_cwe.id',
    path: 'filename',
    line: 'line_number',
    rule_id: 'test_id',
    references: 'more_info',
    description: 'code',
  },
  severity_map: {},
  fingerprint_fields: [],
});

export const bandit: Format = {
  ...banditProfile,
  name: 'bandit',
  label: 'Bandit JSON',
  detection: '"errors", "generated_at" and "metrics" in a row',
  detect: (beginning) => /^\s*\{\s*"errors"\s*:\s*\[[^\]]{0,20000}\]\s*,\s*"generated_at"/.test(beginning),
  async *read(file, facts) {
    const report = await readJson(file);
    // a file that it could not parse is no proof of anything
    facts.complete = list(at(report, 'errors')).length === 0;
    const metrics = obj(at(report, 'metrics'));
    const files = Object.keys(metrics).filter((name) => name !== '_totals');
    if (files.length > 0) facts.inventory = new Set(files.map(reportPath));
    if (num(at(metrics, '_totals', 'loc')) === 0) yield fault('looked at no line of code (metrics._totals.loc is 0)');
    yield* banditProfile.read(file, facts);
  },
};
