// Formats that are a mapping profile and no more: what an operator could have written for a tool with flat records.
import { at, list } from '../normalize.js';
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
    // a file that it could not parse is no proof of anything
    facts.complete = list(at(await readJson(file), 'errors')).length === 0;
    yield* banditProfile.read(file, facts);
  },
};
