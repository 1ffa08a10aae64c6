// The scanner of infrastructure as the catalogue has it.
import type { Scanner } from '../contract.js';
import { composeRules } from './compose/rules.js';
import { dockerRules } from './docker/rules.js';
import { isDockerfile, wantsTemplate } from './files.js';
import { asRule } from './rule.js';
import { terraformRules } from './terraform/rules.js';

export const iacScanner: Scanner = {
  kind: 'iac',
  tool: 'gatehouse-iac',
  label: 'Infrastructure',
  rules: [...dockerRules, ...composeRules, ...terraformRules].map(asRule),
  joinsFiles: true,
  joins: (path) => path.endsWith('.tf'),
  // as much as manifests of Kubernetes: what is larger is told
  fileBytesMax: 16 * 1024 * 1024,
  wants: (path) =>
    isDockerfile(path) ||
    wantsTemplate(path) ||
    path.endsWith('.tf') ||
    (path.endsWith('.tf.json') ? 'Terraform in JSON' : false),
  createEngine: async () => (await import('./engine.js')).IacEngine.create(),
};
