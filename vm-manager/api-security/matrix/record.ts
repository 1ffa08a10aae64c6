// What a test has shown, as a record of the importer; texts are masked before they come here.
import type { Step } from '../../exploit/attempt.js';
import { record, type FindingRecord } from '../../imports/record.js';
import { checks, type Judged } from './judge.js';

interface Shown {
  readonly method: string;
  readonly url: string;
  readonly why: string;
  readonly steps: readonly Step[];
  readonly judged: Judged;
  readonly param: string | undefined;
}

export function recordOf({ method, url, why, steps, judged, param }: Shown): FindingRecord {
  const { title, severity, cwe, remediation, owasp } = checks[judged.check];
  return record({
    ...{ title, severity, source: 'api', ruleId: `api-access-${judged.check}`, cwes: [cwe], description: why },
    location: {
      ...{ kind: 'web', method, url: url.split('?', 1)[0] ?? url },
      ...(param === undefined ? {} : { param }),
    },
    fix: { state: 'unknown', text: remediation },
    evidence: [
      {
        ...{ owasp, matrix: judged.cells, proof: why },
        requests: steps.slice(-8).map(({ who, purpose, request, status, response }) => ({
          ...{ who, purpose, status, request: request.slice(0, 4000), response: response.slice(0, 3000) },
        })),
      },
    ],
    tags: [owasp.toLowerCase().replace(':', '-')],
    reachable: true,
    quality: 0.95,
  });
}
