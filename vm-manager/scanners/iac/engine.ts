// Dockerfiles beside the rules.
import { nothing, type Engine } from '../contract.js';
import { Lines } from '../lines.js';
import { dockerRules } from './docker/rules.js';
import { stagesOf } from './docker/stages.js';
import { findingsOf } from './findings.js';

export class IacEngine implements Engine {
  take({ path, bytes }: { readonly path: string; readonly bytes: Buffer }) {
    const lines = new Lines(bytes.toString('utf8'));
    const stages = stagesOf(lines.text);
    return {
      ...nothing,
      findings: dockerRules.flatMap((rule) => findingsOf(rule, stages, path, lines)),
      scanned: [path],
    };
  }

  end() {
    return nothing;
  }
}
