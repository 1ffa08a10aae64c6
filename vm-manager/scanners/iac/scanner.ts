// The scanner of infrastructure as the catalogue has it.
import type { Scanner } from '../contract.js';
import { dockerRules } from './docker/rules.js';
import { asRule } from './rule.js';
import { terraformRules } from './terraform/rules.js';

export const isDockerfile = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]+\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$/i.test(path) &&
  !/\.(?:dockerignore|md|ts|js|py|go)$/i.test(path);

export const iacScanner: Scanner = {
  kind: 'iac',
  tool: 'gatehouse-iac',
  label: 'Infrastructure',
  rules: [...dockerRules, ...terraformRules].map(asRule),
  joinsFiles: true,
  fileBytesMax: 4 * 1024 * 1024,
  wants: (path) =>
    isDockerfile(path) || path.endsWith('.tf') || (path.endsWith('.tf.json') ? 'Terraform in JSON' : false),
  createEngine: async () => (await import('./engine.js')).IacEngine.create(),
};
